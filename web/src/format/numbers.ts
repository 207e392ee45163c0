// A formatter is made once: making one takes some 20 µs, as long as formatting fifty numbers, and a page of many clusters
// has thousands of them. `toLocaleString` makes one each time.
const format = (options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(undefined, options).format

/** "1,234": in the reader's own way of writing. */
export const grouped = format()

const wholePercent = format({ style: 'percent', maximumFractionDigits: 0 })

/** "47 %": whole, in the reader's own way of writing. */
export const percent = (value: number) => wholePercent(value / 100)

/** A sum of money a month, without cents. */
export const dollars = format({ style: 'currency', currency: 'USD', maximumFractionDigits: 0 })

/** A price, with cents. */
export const dollarsAndCents = format({ style: 'currency', currency: 'USD' })

/** "0.043", "9.9", "12": two digits of what is less than one. */
const twoDigits = format({ maximumSignificantDigits: 2 })
/** "9.9", "5". */
export const oneDecimal = format({ maximumFractionDigits: 1 })
/** "12": rounded. */
export const whole = format({ maximumFractionDigits: 0 })

/** CPU in cores: "0.04 cores", "1.9 cores", "12 cores". A little is not nought. */
export function cores(millicores: number): string {
  const amount = millicores / 1_000
  const text = (amount < 1 ? twoDigits : amount < 10 ? oneDecimal : whole)(amount)
  return `${text}\u00a0${text === grouped(1) ? 'core' : 'cores'}`
}
