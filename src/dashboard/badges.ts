import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask } from './api.ts'
import { isUnfinished, useBatches } from './batch-data.ts'
import { acknowledge, newFailures, seenFailures, useDeliveries } from './deliveries.ts'
import { missingSandbox } from './live.ts'
import { useLive } from './loaded.tsx'
import { sandboxName } from './place.ts'
import { useRules } from './rules.ts'

/** The numbers next to the name of a view: its items, and how many of them are problems. */
export const badges = signal<Readonly<Record<string, { count: number; problems: number }>>>({})

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
  const { data: rules } = useRules()
  const { data: scenarios } = useLive(() => ask('GET /scenarios'), ['scenario'])
  // A badge that is as before stays as it is.
  useEffect(() => {
    if (batches !== undefined) setBadge('batches', batches.filter(isUnfinished).length)
    if (rules !== undefined) setBadge('faults', rules.filter(({ status }) => status === 'armed').length)
    const broken = scenarios?.data.filter(({ error }) => error !== null)
    if (broken !== undefined) setBadge('scenarios', 0, broken.length)
    if (deliveries === undefined) return
    acknowledge([], deliveries)
    setBadge('webhooks', deliveries.length, newFailures(deliveries).length)
  }, [batches, rules, scenarios, deliveries, seenFailures.value])
}
