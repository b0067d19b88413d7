/** How much of a proof is run: `short` in every `npm test`, `long` by `npm run test:long`. */
export type Scale = 'short' | 'long'

/** One measured value of a proof, and whether it satisfies the promise. */
export interface Figure {
  readonly what: string
  readonly value: number | string
  /** The promised value, such as `0` or `< 50 ms`. Absent for a figure that only counts attempts. */
  readonly promised?: string
  readonly holds: boolean
}

/** A promise of the emulator and its check. It connects only to 127.0.0.1, and ends without help. */
export interface Proof {
  readonly id: string
  readonly promise: string
  /** @param say prints a line of progress. @returns the measured figures; a figure that does not hold breaks the promise */
  readonly run: (scale: Scale, say: (line: string) => void) => Promise<readonly Figure[]>
}

export function tried(what: string, value: number | string): Figure {
  return { what, value, holds: true }
}

export function none(what: string, value: number): Figure {
  return { what, value, promised: '0', holds: value === 0 }
}

export function below(what: string, value: number, bound: number, unit = ''): Figure {
  const measured = (number: number) => `${number} ${unit}`.trimEnd()
  return { what, value: measured(value), promised: `< ${measured(bound)}`, holds: value < bound }
}

export function atLeast(what: string, value: number, bound: number): Figure {
  return { what, value, promised: `>= ${bound}`, holds: value >= bound }
}

/** A figure that a busy machine can spoil: in the short scale, other tests run at the same time, so it always holds. */
export function timing(scale: Scale, figure: Figure): Figure {
  return scale === 'long' ? figure : { ...figure, holds: true }
}

export function broken(figures: readonly Figure[]): string[] {
  return figures
    .filter(({ holds }) => !holds)
    .map(({ what, value, promised }) => `${what}: ${value}, promised ${promised ?? 'otherwise'}`)
}
