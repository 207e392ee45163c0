const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** An amount of storage or memory in binary units: "512 B", "5.2 KiB", "64 GiB". */
export function bytes(amount: number): string {
  let value = amount
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  const digits = unit === 0 || value >= 10 ? 0 : 1
  return `${value.toLocaleString(undefined, { maximumFractionDigits: digits })}\u00a0${units[unit]}`
}
