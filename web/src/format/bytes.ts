import { oneDecimal, whole } from './numbers'

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** An amount of storage or memory in binary units: "512 B", "5.2 KiB", "64 GiB". */
export function bytes(amount: number): string {
  let value = amount
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  const text = (unit === 0 || value >= 10 ? whole : oneDecimal)(value)
  return `${text}\u00a0${units[unit]}`
}
