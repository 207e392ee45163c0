/** A page of a list. */
interface Page<T> {
  items: T[]
  next_cursor: string | null
}

/** As many things a page as the server gives. */
export const PAGE = 500

/** All of a list, page by page. */
export async function allOf<T>(read: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = []
  let cursor: string | undefined
  for (;;) {
    const page = await read(cursor)
    all.push(...page.items)
    if (!page.next_cursor) return all
    cursor = page.next_cursor
  }
}
