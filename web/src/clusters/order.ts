export type Direction = 'asc' | 'desc'

interface Named {
  id: string
  name: string
}

/** "1.9" comes before "1.34". */
export const compareTexts = new Intl.Collator(undefined, { numeric: true })

/** What is not known comes last in both directions; what is alike goes by name. */
export function by<T extends Named>(
  value: (of: T) => string | number | null,
  direction: Direction,
): (a: T, b: T) => number {
  const factor = direction === 'desc' ? -1 : 1
  return (a, b) => {
    const [first, second] = [value(a), value(b)]
    if (first === null || second === null) {
      if (first !== second) return first === null ? 1 : -1
    } else {
      const order =
        typeof first === 'number' && typeof second === 'number'
          ? first - second
          : compareTexts.compare(String(first), String(second))
      if (order !== 0) return factor * order
    }
    return compareTexts.compare(a.name, b.name) || a.id.localeCompare(b.id)
  }
}
