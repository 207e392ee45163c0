const ways = ['register', 'connect', 'create'] as const

/** A way to add a cluster. */
export type Way = (typeof ways)[number]

/** The way that an address names. */
export const wayOf = (text: unknown): Way | undefined => ways.find((way) => way === text)
