/** The look of Base UI menus and popovers. */
export const popupClass =
  'rounded-xl border border-line bg-raised p-1 shadow-pop outline-none transition-opacity duration-100 data-ending-style:opacity-0 data-starting-style:opacity-0'

export const menuItemClass =
  'flex h-9 cursor-default select-none items-center gap-2.5 rounded-lg px-2.5 text-ui outline-none data-highlighted:bg-hover max-sm:h-11 [&_svg]:size-4 [&_svg]:text-fg-3'
