import { signal } from '@preact/signals'
import { ask } from './api.ts'
import { isUnfinished, loadBatches } from './batch-data.ts'

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

/** Counts what the navigation shows of views that are not open; one that takes longer keeps no other waiting. */
export async function loadBadges(): Promise<void> {
  await Promise.all([
    loadBatches().then((batches) => setBadge('batches', batches.filter(isUnfinished).length)),
    ask('GET /faults').then(({ data }) =>
      setBadge('faults', data.filter(({ status }) => status === 'armed').length),
    ),
    ask('GET /webhooks/deliveries').then(({ data }) =>
      setBadge('webhooks', data.length, data.filter(({ status }) => status === 'failed').length),
    ),
    ask('GET /scenarios').then(({ data }) =>
      setBadge('scenarios', 0, data.filter(({ error }) => error !== null).length),
    ),
  ])
}
