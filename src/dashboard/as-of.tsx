import { type BatchRow, batchAt, batchTitle, isUnfinished, stateOf } from './batch-data.ts'
import { type DeliveryRow, receiverName } from './deliveries.ts'
import { EventRow } from './events.tsx'
import { shortPath, shortTime } from './format.ts'
import { linkTo } from './place.ts'
import { hasFailed, logRows } from './requests.ts'
import { StateTag, Status } from './status.tsx'
import { Card } from './ui.tsx'

/** Rows of a card at most. */
const MOST = 8

/** The batches, requests and webhooks as of an instant. Records are not rewound: only what has its instants is known. */
export function AsOf(props: {
  batches: readonly BatchRow[]
  deliveries: readonly DeliveryRow[]
  at: number
  now: number
}) {
  const { at, now } = props
  const isPast = (instant: string) => Date.parse(instant) <= at
  const batches = props.batches.flatMap((batch) => batchAt(batch, at, now) ?? [])
  const requests = logRows.value.entries.filter((row) => isPast(row.at))
  const attempts = props.deliveries
    .flatMap((delivery) => delivery.attempts.map((attempt) => ({ ...attempt, delivery })))
    .filter((attempt) => isPast(attempt.at))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
  const failed = attempts.filter(({ outcome }) => outcome !== 'delivered')
  const parts: readonly { title: string; hint: string; rows: readonly Parameters<typeof EventRow>[0][] }[] = [
    {
      title: 'Batches',
      hint: `${batches.filter(isUnfinished).length} unfinished`,
      rows: batches.map((batch) => ({
        ...{ at: batch.created_at, now, icon: 'batches', text: batchTitle(batch) },
        href: linkTo('batches', [batch.id]),
        hint: `${isUnfinished(batch) ? 'about ' : ''}${batch.finished} of ${batch.request_counts.total} items`,
        children: <StateTag state={stateOf(batch)} />,
      })),
    },
    {
      title: 'Requests',
      hint: `${requests.length}, ${requests.filter(hasFailed).length} failed`,
      rows: requests.slice(0, MOST).map((row) => ({
        ...{ at: row.at, now, icon: 'requests', text: `${row.method} ${shortPath(row.path)}` },
        href: linkTo('requests', [row.id]),
        children: <Status row={row} />,
      })),
    },
    {
      title: 'Webhooks',
      hint: `${attempts.length} sent, ${failed.length} failed`,
      rows: attempts.slice(0, MOST).map(({ at: sent, attempt, outcome, delivery }) => ({
        ...{ at: sent, now, icon: 'bell', text: delivery.type },
        href: linkTo('webhooks', [delivery.id]),
        hint: `attempt ${attempt} to ${receiverName(delivery.url)}`,
        children: <StateTag state={outcome === 'delivered' ? 'delivered' : 'failed'} />,
      })),
    },
  ]
  return (
    <div class="columns past">
      {parts.map(({ title, hint, rows }) => (
        <Card key={title} title={title} hint={`${hint} as of ${shortTime(at, now)}`}>
          <ul class="rows events">
            {rows.map((row, index) => (
              <EventRow key={index} {...row} />
            ))}
          </ul>
        </Card>
      ))}
      <p class="hint">Looking at the past changes nothing. Records are shown as they are now.</p>
    </div>
  )
}
