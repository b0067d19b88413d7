import { useEffect } from 'preact/hooks'
import { ask } from './api.ts'
import { isUnfinished, useBatches } from './batch-data.ts'
import { acknowledge, newFailures, useDeliveries } from './deliveries.ts'
import { missingSandbox } from './live.ts'
import { useLive } from './loaded.tsx'
import { logRows } from './requests.ts'
import { useRules } from './rules.ts'

/** The numbers next to the names of views: items, or problems if there are any. A slow call does not delay the others. */
export function useBadges(): Readonly<
  Record<string, { readonly count: number; readonly problems?: number }>
> {
  const { data: batches = [] } = useBatches()
  const { data: deliveries } = useDeliveries()
  const { data: rules = [] } = useRules()
  const { data: scenarios } = useLive(() => ask('GET /scenarios'), ['scenario'])
  useEffect(() => {
    if (deliveries !== undefined) acknowledge([], deliveries)
  }, [deliveries])
  if (missingSandbox.value !== undefined) return {}
  return {
    requests: { count: logRows.value.entries.length },
    batches: { count: batches.filter(isUnfinished).length },
    faults: { count: rules.filter(({ status }) => status === 'armed').length },
    scenarios: { count: 0, problems: scenarios?.data.filter(({ error }) => error !== null).length ?? 0 },
    webhooks: { count: deliveries?.length ?? 0, problems: newFailures(deliveries ?? []).length },
  }
}
