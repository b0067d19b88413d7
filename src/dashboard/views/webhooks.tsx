import { useState } from 'preact/hooks'
import { ask, type Output, wordsOf } from '../api.ts'
import { useBatches } from '../batch-data.ts'
import { Chain } from '../chain.tsx'
import { goToInstant } from '../clock-bar.tsx'
import { Code } from '../code.tsx'
import {
  acknowledge,
  type DeliveryRow,
  deliveryState,
  isInbox,
  newFailures,
  receiverName,
  useDeliveries,
} from '../deliveries.ts'
import { EventRow, named, RowsCard } from '../events.tsx'
import { TextField } from '../fields.tsx'
import { countOf, durationText, pretty, shortId, shortTime } from '../format.ts'
import { Icon } from '../icon.tsx'
import { Inbox, subscribeInbox, TimedState } from '../inbox.tsx'
import { List } from '../list.tsx'
import { act, changed, isLost, ticking } from '../live.ts'
import { useLive } from '../loaded.tsx'
import { here, linkTo, open } from '../place.ts'
import { StateTag } from '../status.tsx'
import { toast } from '../toasts.ts'
import { Button, Detail, Empty, entriesOf, Segments, Tag, ViewHead } from '../ui.tsx'

const TABS = { deliveries: 'Deliveries', inbox: 'Inbox', subscriptions: 'Subscriptions' }

const NO_ENDPOINT = 'No endpoint is subscribed. Add one, then let a batch finish.'

const load = () => Promise.all([ask('GET /webhooks'), ask('GET /webhooks/inbox')])

/** The id of the batch that a reference names. */
const idIn = (ref: string) => ref.slice(ref.indexOf('/') + 1)

function DeliveryTag({ delivery }: { delivery: DeliveryRow }) {
  const state = deliveryState(delivery)
  const retry = shortTime(delivery.retry_at ?? 0, ticking.value ?? 0)
  return <StateTag state={state}>{state === 'retrying' ? `retry ${retry}` : undefined}</StateTag>
}

export default function Webhooks() {
  const { data, notice } = useLive(load, ['delivery', 'event', 'transition'])
  const { data: oldestFirst } = useDeliveries()
  const { data: batches = [] } = useBatches()
  const { path, query } = here.value
  const [isAdding, setAdding] = useState(false)
  if (data === undefined || oldestFirst === undefined) return notice
  const [{ data: subscriptions }, { data: messages }] = data
  const deliveries = oldestFirst.toReversed()
  const failures = newFailures(deliveries)
  const isOn = subscriptions.length > 0
  const [tab] = entriesOf(TABS).find(([name]) => name === query.tab) ?? ['deliveries']
  const add = () => {
    open([], { tab: 'subscriptions' })
    setAdding(true)
  }
  return (
    <>
      <ViewHead
        title="Webhooks"
        summary={`${countOf(subscriptions.length, 'subscription')} · ${countOf(deliveries.length, 'delivery', 'deliveries')}`}
      >
        <Segments
          label="What is shown"
          options={{ ...TABS, ...(messages.length > 0 && { inbox: `Inbox ${messages.length}` }) }}
          value={tab}
          onChoose={(next) => open([], { tab: next })}
        />
        {failures.length > 0 && (
          <Button
            text={`Acknowledge ${countOf(failures.length, 'failure')}`}
            icon="check"
            onClick={() => acknowledge(failures, deliveries)}
          />
        )}
        <Button text="Add endpoint" kind="primary" icon="plus" disabled={isLost.value} onClick={add} />
      </ViewHead>
      {notice}
      {tab === 'subscriptions' ? (
        <section class="scroll" tabIndex={0} aria-label="Subscriptions">
          {isAdding && <NewSubscription onDone={() => setAdding(false)} />}
          <Subscriptions subscriptions={subscriptions} />
        </section>
      ) : tab === 'inbox' ? (
        <Inbox messages={messages} isOn={subscriptions.some(({ url }) => isInbox(url))} />
      ) : (
        <div class="split">
          <List
            {...{ label: 'Deliveries, newest first', noun: 'delivery', nouns: 'deliveries', width: 648 }}
            items={deliveries}
            empty={
              <Empty
                icon="bell"
                title="No deliveries yet"
                text={isOn ? 'A delivery appears here when a batch becomes terminal.' : NO_ENDPOINT}
              >
                {!isOn && <Button text="Use the inbox" icon="inbox" onClick={subscribeInbox} />}
              </Empty>
            }
            idOf={({ id }) => id}
            selected={path[0]}
            phone={(delivery) => [
              <strong class="mono">{delivery.type}</strong>,
              `${named(delivery.ref, batches) ?? shortId(idIn(delivery.ref))} to ${receiverName(delivery.url)}`,
              <TimedState at={delivery.created_at}>
                <DeliveryTag delivery={delivery} />
              </TimedState>,
            ]}
          >
            {(delivery) => <DeliveryDetail delivery={delivery} />}
          </List>
        </div>
      )}
    </>
  )
}

function DeliveryDetail({ delivery }: { delivery: DeliveryRow }) {
  const { attempts, ...rest } = delivery
  const { id, ref, type, url, status, retry_at } = rest
  const { data: batches = [] } = useBatches()
  const now = ticking.value ?? 0
  const redeliver = () =>
    void act(() => ask('POST /webhooks/deliveries/{id}/redeliver', { params: { id } }), 'Sent again.')
  const copy = () =>
    void act(
      () => ask('POST /webhooks/deliveries/{id}/inbox', { params: { id } }),
      'The inbox has received it.',
    )
  return (
    <Detail label={`Delivery ${id}`} title={<code>{type}</code>} head={<DeliveryTag delivery={delivery} />}>
      <p class="dim">
        About the batch{' '}
        <a href={linkTo('batches', [idIn(ref)])}>{named(ref, batches) ?? shortId(idIn(ref))}</a>.{' '}
        {`${countOf(attempts.length, 'attempt')} to ${receiverName(url)}.`}
        {retry_at !== null &&
          ` The next is at ${shortTime(retry_at, now)}, in ${durationText(Math.max(0, Date.parse(retry_at) - now))}.`}
      </p>
      <p class="row-actions">
        <Button
          text="Redeliver now"
          kind="primary"
          icon="again"
          disabled={isLost.value || status === 'sending'}
          onClick={redeliver}
        />
        {!isInbox(url) && <Button text="Send to inbox" icon="inbox" disabled={isLost.value} onClick={copy} />}
        {retry_at !== null && (
          <Button
            text="Advance to retry"
            icon="step"
            disabled={isLost.value}
            onClick={() => goToInstant(retry_at, 'To the retry')}
          />
        )}
      </p>
      <Chain current={id} about={ref} />
      <RowsCard title="Attempts" hint={String(attempts.length)} note={attempts.length === 0 && 'None yet.'}>
        {attempts.map(({ attempt, at, outcome, status: code, error }) => (
          <EventRow key={attempt} {...{ at, icon: 'bell', text: `Attempt ${attempt}`, hint: error ?? '' }}>
            <StateTag state={outcome === null ? 'pending' : outcome === 'delivered' ? outcome : 'failed'}>
              {String(code ?? outcome ?? 'sending')}
            </StateTag>
          </EventRow>
        ))}
      </RowsCard>
      <h3>Delivery</h3>
      <Code label="Delivery" text={pretty(rest)} />
    </Detail>
  )
}

const remove = (id: string) =>
  void act(() => ask('DELETE /webhooks/{id}', { params: { id } }), 'The subscription is removed.')

function Subscriptions({ subscriptions }: { subscriptions: Output<'GET /webhooks'>['data'] }) {
  if (subscriptions.length === 0)
    return (
      <Empty
        icon="bell"
        title="No endpoint is subscribed"
        text="Add the address of a receiver. Webhooks are sent when virtual time reaches their instant."
      />
    )
  return (
    <ul class="card rows">
      {subscriptions.map(({ id, url, events, has_secret }) => (
        <li key={id ?? url}>
          <span class="grow">
            <code>{url}</code>
            <span class="hint"> {events === null ? 'every event' : events.join(', ')}</span>
          </span>
          {has_secret && <Tag icon="key">signed</Tag>}
          {id === null ? (
            <span class="hint">from the settings</span>
          ) : (
            <Button kind="danger" icon="trash" label={`Remove ${url}`} onClick={() => remove(id)} />
          )}
        </li>
      ))}
    </ul>
  )
}

function NewSubscription({ onDone }: { onDone: () => void }) {
  const [url, setUrl] = useState('')
  const [secret, setSecret] = useState('')
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const save = async () => {
    setProblem(undefined)
    try {
      await ask('POST /webhooks', { body: { url, ...(secret !== '' && { secret }) } })
      onDone()
      toast('ok', 'The endpoint is subscribed.')
      changed()
    } catch (error) {
      setProblem(wordsOf(error))
    }
  }
  return (
    <form
      class="card pad fields"
      aria-label="New endpoint"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <TextField
        label="URL"
        error={problem}
        required
        placeholder="http://127.0.0.1:3000/hook"
        value={url}
        onInput={setUrl}
      />
      <TextField label="Signing secret (optional)" type="password" value={secret} onInput={setSecret} />
      <p class="row-actions">
        <Button text="Subscribe" kind="primary" type="submit" />
        <Button text="Cancel" onClick={onDone} />
        <span class="hint">
          <Icon name="info" size={12} /> Receivers on this machine are allowed; others with --allow-webhook.
        </span>
      </p>
    </form>
  )
}
