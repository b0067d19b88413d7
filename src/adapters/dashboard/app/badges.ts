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

/** Counts what the navigation shows of views that are not open. */
export async function loadBadges(): Promise<void> {
  const [batches, faults, deliveries, scenarios] = await Promise.all([
    loadBatches(),
    ask('GET /faults'),
    ask('GET /webhooks/deliveries'),
    ask('GET /scenarios'),
  ])
  setBadge('batches', batches.filter(isUnfinished).length)
  setBadge('faults', faults.data.filter(({ status }) => status === 'armed').length)
  setBadge(
    'webhooks',
    deliveries.data.length,
    deliveries.data.filter(({ status }) => status === 'failed').length,
  )
  setBadge('scenarios', 0, scenarios.data.filter(({ error }) => error !== null).length)
}
