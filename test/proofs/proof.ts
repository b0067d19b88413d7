/** How much of a proof is run: `short` in every `npm test`, `long` by `npm run test:long`. */
export type Scale = 'short' | 'long'

/** One thing that a proof has measured, and whether it is as promised. */
export interface Figure {
  readonly what: string
  readonly value: number | string
  /** What is promised: `0`, `< 50 ms`. Absent for a figure that says how much was tried. */
  readonly promised?: string
  readonly holds: boolean
}

/** A promise of the emulator, and what shows that it is kept. It talks to 127.0.0.1 alone and ends by itself. */
export interface Proof {
  /** `D3`; unique. */
  readonly id: string
  /** The promise, one sentence. */
  readonly promise: string
  /** @param say prints a line of progress. @returns what was measured; a figure that does not hold breaks the promise */
  readonly run: (scale: Scale, say: (line: string) => void) => Promise<readonly Figure[]>
}

/** How much was tried. */
export function tried(what: string, value: number | string): Figure {
  return { what, value, holds: true }
}

/** Something that must not have happened. */
export function none(what: string, value: number): Figure {
  return { what, value, promised: '0', holds: value === 0 }
}

/** A figure that must stay below a bound. */
export function below(what: string, value: number, bound: number, unit = ''): Figure {
  const measured = (number: number) => `${number} ${unit}`.trimEnd()
  return { what, value: measured(value), promised: `< ${measured(bound)}`, holds: value < bound }
}

/** A figure that must reach a bound. */
export function atLeast(what: string, value: number, bound: number): Figure {
  return { what, value, promised: `>= ${bound}`, holds: value >= bound }
}

/** The figures that do not hold, in words. */
export function broken(figures: readonly Figure[]): string[] {
  return figures
    .filter(({ holds }) => !holds)
    .map(({ what, value, promised }) => `${what}: ${value}, promised ${promised ?? 'otherwise'}`)
}
