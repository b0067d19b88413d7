import type { VNode } from 'preact'
import { batchName, stateOf, useBatches } from './batch-data.ts'
import { deliveryState, useDeliveries } from './deliveries.ts'
import { countOf, shortPath, shortTime } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { ticking } from './live.ts'
import { linkTo } from './place.ts'
import { type LogRow, logRows } from './requests.ts'
import { StateTag, Status } from './status.tsx'

const BATCH = 'batch_predictions/'

/** The references of the batches that a request has changed, or that its path names. */
function batchesOf({ changed, path }: LogRow): readonly string[] {
  const [, id] = /\/batch-predictions\/([^/]+)/.exec(path) ?? []
  return [...changed.filter((ref) => ref.startsWith(BATCH)), ...(id === undefined ? [] : [BATCH + id])]
}

/** What the repetitions of a request have in common: a key counts for one operation. Without a key there are none. */
const callOf = ({ id, operation, idempotency_key: key }: LogRow) =>
  key === null ? id : `${operation} ${key}`

type Part = readonly [IconName, view: string, id: string, at: string, label: string, hint: string, tag: VNode]

/**
 * Everything that belongs to a request, a batch or a delivery, in order of time: the requests with one idempotency key, the
 * batches that they created or changed, and the deliveries about these.
 * @param props current: the id of the part that is open; about: the record of a delivery, or of a batch
 */
export function Chain({ current, about }: { current: string; about?: string }) {
  const entries = logRows.value.entries.toReversed()
  const { data: batches = [] } = useBatches()
  const { data: deliveries = [] } = useDeliveries()
  const now = ticking.value ?? 0
  const opened = entries.find(({ id }) => id === current)
  const same = entries.filter((row) => opened !== undefined && callOf(row) === callOf(opened))
  const refs = new Set(about === undefined ? same.flatMap(batchesOf) : [about])
  const makers = entries.filter(({ changed }) => changed.some((ref) => refs.has(ref)))
  const calls = new Set([...same, ...makers].map(callOf))
  const requests = entries.filter((row) => calls.has(callOf(row)))
  const requestParts = requests.map((row): Part => {
    const { id, at, method, path, idempotency } = row
    const hint = idempotency === 'replay' || idempotency === 'conflict' ? idempotency : ''
    return ['requests', 'requests', id, at, `${method} ${shortPath(path)}`, hint, <Status row={row} />]
  })
  const changed = batches.filter(({ id }) => refs.has(BATCH + id))
  const batchParts = changed.map((batch): Part => {
    const tag = <StateTag state={stateOf(batch)} />
    return ['batches', 'batches', batch.id, batch.created_at, batchName(batch), '', tag]
  })
  const sent = deliveries.filter(({ ref }) => refs.has(ref))
  const deliveryParts = sent.map((delivery): Part => {
    const { id, type, created_at, attempts } = delivery
    const tag = <StateTag state={deliveryState(delivery)} />
    return ['bell', 'webhooks', id, created_at, type, countOf(attempts.length, 'attempt'), tag]
  })
  // Under a frozen clock all may have the same instant: a batch then follows the request that created it.
  const parts = [...requestParts.slice(0, 1), ...batchParts, ...requestParts.slice(1), ...deliveryParts].sort(
    ([, , , a], [, , , b]) => Date.parse(a) - Date.parse(b),
  )
  if (parts.length < 2) return null
  return (
    <>
      <h3>Chain</h3>
      <ol class="chain" aria-label="Chain">
        {parts.map(([icon, view, id, at, label, hint, tag]) => (
          <li key={id} aria-current={id === current ? 'true' : undefined}>
            <Icon name={icon} />
            <time dateTime={at}>{shortTime(at, now)}</time>
            <a class="cut" href={linkTo(view, [id])} title={id}>
              {label}
            </a>
            <span class="hint">{hint}</span>
            {tag}
          </li>
        ))}
      </ol>
    </>
  )
}
