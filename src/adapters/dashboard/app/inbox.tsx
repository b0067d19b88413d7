import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask, type Output } from './api.ts'
import { type BatchRow, batchName } from './batch-data.ts'
import { Code } from './code.tsx'
import { dateTime, pretty, shortId, timeOfDay } from './format.ts'
import { Icon } from './icon.tsx'
import { act, isLost } from './live.ts'
import { useLive } from './loaded.ts'
import { Menu } from './menu.tsx'
import { goTo, linkTo, open } from './place.ts'
import { Panel } from './splitter.tsx'
import { Button, CopyButton, Detail, Empty, Problem, Tag } from './ui.tsx'
import { useKeys } from './view-keys.ts'

type Message = Output<'GET /webhooks/inbox'>['data'][number]

/** Ids of messages that were opened in this tab. */
const read = signal<ReadonlySet<string>>(new Set())

function mark(id: string, isRead: boolean): void {
  const ids = new Set(read.peek())
  if (isRead) ids.add(id)
  else ids.delete(id)
  read.value = ids
}

/** Statuses with which the inbox can be told to respond. */
const RESPONSES = [200, 204, 400, 410, 500, 503]

function respondWith(status: number): void {
  void act(
    () => ask('PATCH /settings', { body: { 'webhooks.inbox_status': status } }),
    `The inbox responds with ${status} from now on.`,
  )
}

/** With which status the inbox responds, to be chosen. */
function ResponseChoice() {
  const { data } = useLive(() => ask('GET /settings'), [])
  const now = data?.values['webhooks.inbox_status'] ?? 200
  return (
    <p class="inbox-head">
      <Icon name="inbox" />
      <span class="grow">The built-in inbox</span>
      <Menu
        label="Response of the inbox"
        button={`Responds ${now}`}
        disabled={isLost.value}
        items={RESPONSES.map((status) => ({
          label: `Respond with ${status}`,
          hint: status === now ? 'now' : undefined,
          run: () => respondWith(status),
        }))}
      />
    </p>
  )
}

const SIGNATURES = {
  valid: ['ok', 'ok', 'signature valid'],
  wrong: ['error', 'error', 'wrong signature'],
  missing: ['error', 'error', 'signature missing'],
} as const

function SignatureTag({ signature }: Pick<Message, 'signature'>) {
  if (signature === null) return <Tag tone="neutral">not signed</Tag>
  const [tone, icon, words] = SIGNATURES[signature]
  return (
    <Tag tone={tone} icon={icon}>
      {words}
    </Tag>
  )
}

function ResponseTag({ status }: Pick<Message, 'status'>) {
  const isGood = status < 300
  return (
    <Tag tone={isGood ? 'ok' : 'error'} icon={isGood ? 'ok' : 'error'}>
      {status}
    </Tag>
  )
}

/** Subscribes the built-in receiver. */
export function subscribeInbox(): void {
  void act(() => ask('POST /webhooks', { body: { inbox: true } }), 'The inbox is subscribed.')
}

/** What the built-in receiver has got, like a mailbox. */
export function Inbox({
  messages,
  id,
  isOn,
}: {
  messages: readonly Message[]
  id: string | undefined
  isOn: boolean
}) {
  if (messages.length === 0) {
    return (
      <Empty
        icon="inbox"
        title={isOn ? 'Nothing has arrived yet' : 'Use the inbox'}
        text="The built-in inbox receives webhooks without a server of your own. Faults and retries act on it as on any receiver."
      >
        {!isOn && (
          <Button kind="primary" icon="inbox" onClick={subscribeInbox}>
            Use the inbox
          </Button>
        )}
      </Empty>
    )
  }
  const opened = messages.find((each) => each.id === id)
  return (
    <div class="split">
      <section class="list" tabIndex={0} aria-label="Received webhooks, newest first">
        <ResponseChoice />
        <ul class="deliveries">
          {messages.map((message) => (
            <li key={message.id}>
              <button
                type="button"
                class={read.value.has(message.id) ? 'read' : ''}
                aria-current={message.id === id ? 'true' : undefined}
                onClick={() => open([message.id])}
              >
                <span class="mono subject">{message.type}</span>
                <time dateTime={message.received_at}>{timeOfDay(message.received_at)}</time>
                <span class="hint">{subjectOf(message)}</span>
                {message.copy_of !== null ? (
                  <Tag tone="warn" icon="bolt">
                    copy
                  </Tag>
                ) : (
                  <ResponseTag status={message.status} />
                )}
              </button>
            </li>
          ))}
        </ul>
      </section>
      {id !== undefined && (
        <Panel name="delivery" width={648}>
          {opened === undefined ? (
            <Problem text={`There is no message ${id} in the inbox.`} />
          ) : (
            <MessageDetail key={id} message={opened} />
          )}
        </Panel>
      )}
    </div>
  )
}

/** What a message is about: the batch by its name and the end of its id, or the beginning of the body. */
function subjectOf({ body }: Message): string {
  const { data = body } = (body ?? {}) as { readonly data?: unknown }
  const { id, metadata } = (data ?? {}) as { readonly id?: unknown; readonly metadata?: object }
  if (typeof id !== 'string') return JSON.stringify(body).slice(0, MOST)
  const name = batchName({ id, metadata: { ...metadata } } as BatchRow)
  return name === shortId(id) ? name : `${shortId(id)} ${name}`
}

/** Characters of a body that is none of ours. */
const MOST = 200

function MessageDetail({ message }: { message: Message }) {
  const { id, type, received_at, attempt, body, status, signature } = message
  useEffect(() => mark(id, true), [id])
  const unread = () => {
    mark(id, false)
    open([])
  }
  useKeys({ u: unread })
  const head = (
    <>
      <h2 class="mono">{type}</h2>
      <SignatureTag signature={signature} />
    </>
  )
  return (
    <Detail label={`Message ${id}`} head={head} onClose={() => open([])}>
      <p class="why">
        Received at {dateTime(received_at)} with attempt {attempt}. Responded {status}.
      </p>
      <p class="row-actions">
        <CopyButton text={() => pretty(body)}>Copy body</CopyButton>
        <Button onClick={unread}>Mark unread</Button>
        <Button onClick={() => goTo(linkTo('webhooks', [id]))}>Show the delivery</Button>
      </p>
      <h3>Body</h3>
      <Code label="Body" text={pretty(body)} />
    </Detail>
  )
}
