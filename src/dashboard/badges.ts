import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask } from './api.ts'
import { isUnfinished, useBatches } from './batch-data.ts'
import { acknowledge, newFailures, seenFailures, useDeliveries } from './deliveries.ts'
import { missingSandbox } from './live.ts'
import { useLive } from './loaded.tsx'
import { sandboxName } from './place.ts'

/** The numbers next to the name of a view: its items, and how many of them are problems. */
export interface Badge {
  readonly count: number
  readonly problems: number
}

/** Badges by the name of their view. */
export const badges = signal<Readonly<Record<string, Badge>>>({})

// The counts of another sandbox, or of one that was deleted, say nothing about this one.
effect(() => {
  void [sandboxName.value, missingSandbox.value]
  badges.value = {}
})

export function setBadge(view: string, count: number, problems = 0): void {
  const before = badges.peek()[view]
  if (before?.count === count && before.problems === problems) return
  badges.value = { ...badges.peek(), [view]: { count, problems } }
}

/** Counts the items of views that are not open, for the navigation. A slow call does not delay the other counts. */
export function useBadges(): void {
  const { data: batches } = useBatches()
  const { data: deliveries } = useDeliveries()
  const { data: faults } = useLive(() => ask('GET /faults'), ['request', 'scenario', 'clock'])
  const { data: scenarios } = useLive(() => ask('GET /scenarios'), ['scenario'])
  useEffect(() => {
    if (batches !== undefined) setBadge('batches', batches.filter(isUnfinished).length)
  }, [batches])
  useEffect(() => {
    if (deliveries === undefined) return
    acknowledge([], deliveries)
    setBadge('webhooks', deliveries.length, newFailures(deliveries).length)
  }, [deliveries, seenFailures.value])
  useEffect(() => {
    const armed = faults?.data.filter(({ status }) => status === 'armed')
    if (armed !== undefined) setBadge('faults', armed.length)
  }, [faults])
  useEffect(() => {
    const broken = scenarios?.data.filter(({ error }) => error !== null)
    if (broken !== undefined) setBadge('scenarios', 0, broken.length)
  }, [scenarios])
}
