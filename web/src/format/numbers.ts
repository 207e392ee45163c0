/** "47 %": whole, in the reader's own way of writing. */
export const percent = (value: number) =>
  (value / 100).toLocaleString(undefined, { style: 'percent', maximumFractionDigits: 0 })

/** A sum of money a month, without cents. */
export const dollars = (value: number) =>
  value.toLocaleString(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 0 })
