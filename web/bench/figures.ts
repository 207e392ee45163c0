import type { Reporter, TestResult } from '@playwright/test/reporter'

/** Prints a figure, and whether it is within its goal, as the other benches do. `tools/bench` counts the verdicts by their words. */
export function figure(what: string, value: number, unit: string, goal?: number) {
  const verdict =
    goal === undefined
      ? ''
      : `goal <= ${String(goal).padStart(8)} ${unit.padEnd(4)} ${value <= goal ? 'met' : 'MISSED'}`
  process.stdout.write(`  ${what.padEnd(66)} ${value.toFixed(2).padStart(10)} ${unit.padEnd(4)}  ${verdict}\n`)
}

/** How long something took: mostly, which is held against the goal, and at best. */
export function times(what: string, all: number[], goal?: number) {
  const sorted = all.toSorted((a, b) => a - b)
  const [best = Number.NaN, median = Number.NaN] = [sorted[0], sorted[Math.floor(sorted.length / 2)]]
  figure(`${what}: median (best ${best.toFixed(1)} ms, ${all.length} times)`, median, 'ms', goal)
}

/** Passes on what is printed, and why something was not measured. */
export default class Figures implements Reporter {
  onStdOut(chunk: string | Buffer) {
    process.stdout.write(chunk)
  }

  onTestEnd(_: unknown, { status, errors }: TestResult) {
    if (status !== 'passed') process.stdout.write(`  NOT MEASURED: ${errors[0]?.message ?? status}\n`)
  }
}
