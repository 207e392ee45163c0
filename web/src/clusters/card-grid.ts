export const cardGrid = 'grid grid-cols-[repeat(auto-fill,minmax(min(22rem,100%),1fr))] gap-5'
