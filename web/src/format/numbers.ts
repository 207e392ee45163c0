/** "47 %": whole, in the reader's own way of writing. */
export const percent = (value: number) =>
  (value / 100).toLocaleString(undefined, { style: 'percent', maximumFractionDigits: 0 })

/** A sum of money a month, without cents. */
export const dollars = (value: number) =>
  value.toLocaleString(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 0 })

/** CPU in cores: "0.04 cores", "1.9 cores", "12 cores". A little is not nought. */
export function cores(millicores: number): string {
  const amount = millicores / 1_000
  const digits = amount < 1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: amount < 10 ? 1 : 0 }
  const text = amount.toLocaleString(undefined, digits)
  return `${text}\u00a0${text === (1).toLocaleString() ? 'core' : 'cores'}`
}

/** A price, with cents. */
export const dollarsAndCents = (value: number) =>
  value.toLocaleString(undefined, { style: 'currency', currency: 'USD' })
