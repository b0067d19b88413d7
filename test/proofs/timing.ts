import type { Figure, Scale } from './proof.ts'

/** A figure that a busy machine can spoil: where other tests run beside it, it is told but breaks no promise. */
export function timing(scale: Scale, figure: Figure): Figure {
  return scale === 'long' ? figure : { ...figure, holds: true }
}
