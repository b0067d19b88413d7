import { signal } from '@preact/signals'

/** What a view has to show: how much, and how much of it is a problem. */
export interface Badge {
  readonly count: number
  readonly problems: number
}

/** By the name of the view. */
export const badges = signal<Readonly<Record<string, Badge>>>({})

export function setBadge(view: string, count: number, problems = 0): void {
  const before = badges.peek()[view]
  if (before?.count === count && before.problems === problems) return
  badges.value = { ...badges.peek(), [view]: { count, problems } }
}
