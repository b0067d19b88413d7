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
  const when = `as of ${shortTime(at, now)}`
  return (
    <div class="columns past">
      <Card title="Batches" hint={`${batches.filter(isUnfinished).length} unfinished ${when}`}>
        <ul class="rows events">
          {batches.map((batch) => (
            <EventRow
              key={batch.id}
              {...{ at: batch.created_at, now, icon: 'batches', text: batchTitle(batch), title: batch.id }}
              href={linkTo('batches', [batch.id])}
              hint={`${isUnfinished(batch) ? 'about ' : ''}${batch.finished} of ${batch.request_counts.total} items`}
            >
              <StateTag state={stateOf(batch)} />
            </EventRow>
          ))}
        </ul>
      </Card>
      <Card title="Requests" hint={`${requests.length} ${when}, ${requests.filter(hasFailed).length} failed`}>
        <ul class="rows events">
          {requests.slice(0, MOST).map((row) => (
            <EventRow
              key={row.id}
              {...{ at: row.at, now, icon: 'requests', text: `${row.method} ${shortPath(row.path)}` }}
              href={linkTo('requests', [row.id])}
            >
              <Status row={row} />
            </EventRow>
          ))}
        </ul>
      </Card>
      <Card title="Webhooks" hint={`${attempts.length} sent ${when}, ${failed.length} failed`}>
        <ul class="rows events">
          {attempts.slice(0, MOST).map(({ at: sent, attempt, outcome, delivery }) => (
            <EventRow
              key={delivery.id + attempt}
              {...{ at: sent, now, icon: 'bell', text: delivery.type }}
              href={linkTo('webhooks', [delivery.id])}
              hint={`attempt ${attempt} to ${receiverName(delivery.url)}`}
            >
              <StateTag state={outcome === 'delivered' ? 'delivered' : 'failed'} />
            </EventRow>
          ))}
        </ul>
      </Card>
      <p class="hint">Looking at the past changes nothing. Records are shown as they are now.</p>
    </div>
  )
}
