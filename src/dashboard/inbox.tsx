import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask, type Output } from './api.ts'
import { type BatchRow, batchName } from './batch-data.ts'
import { Code } from './code.tsx'
import { dateTime, pretty, shortId, sizeOf, timeOfDay } from './format.ts'
import { Icon } from './icon.tsx'
import { List } from './list.tsx'
import { act, isLost } from './live.ts'
import { useLive } from './loaded.tsx'
import { Menu } from './menu.tsx'
import { goTo, here, linkTo, open } from './place.ts'
import { Button, CopyButton, Detail, Empty, Note, Tabs, Tag } from './ui.tsx'
import { useKeys } from './view-keys.ts'

type Message = Output<'GET /webhooks/inbox'>['data'][number]

/** Ids of messages that were opened in this tab. */
const read = signal<ReadonlySet<string>>(new Set())

function mark(id: string, isRead: boolean): void {
  const others = [...read.peek()].filter((each) => each !== id)
  read.value = new Set(isRead ? [...others, id] : others)
}

/** Statuses that can be chosen for the responses of the inbox. */
const RESPONSES = [200, 204, 400, 410, 500, 503]

/** A choice of the status with which the inbox responds. */
function ResponseChoice() {
  const { data } = useLive(() => ask('GET /settings'), [])
  const now = data?.values['webhooks.inbox_status'] ?? 200
  const respond = (status: number) => ask('PATCH /settings', { body: { 'webhooks.inbox_status': status } })
  return (
    <p class="row dim strip line-below">
      <Icon name="inbox" />
      <span class="grow">The built-in inbox</span>
      <Menu
        label="Response of the inbox"
        button={`Responds ${now}`}
        disabled={isLost.value}
        items={RESPONSES.map((status) => ({
          label: `Respond with ${status}`,
          hint: status === now ? 'now' : undefined,
          run: () => void act(() => respond(status), `The inbox responds with ${status} from now on.`),
        }))}
      />
    </p>
  )
}

const SIGNATURES = {
  valid: 'signature valid',
  wrong: 'wrong signature',
  missing: 'signature missing',
  old: 'signature too old',
}

function SignatureTag({ signature }: Pick<Message, 'signature'>) {
  if (signature === null) return <Tag>not signed</Tag>
  return <Tag tone={signature === 'valid' ? 'ok' : 'error'}>{SIGNATURES[signature]}</Tag>
}

/** Subscribes the built-in receiver. */
export function subscribeInbox(): void {
  void act(() => ask('POST /webhooks', { body: { inbox: true } }), 'The inbox is subscribed.')
}

/** The messages of the built-in receiver, like a mailbox. */
export function Inbox({ messages, isOn }: { messages: readonly Message[]; isOn: boolean }) {
  return (
    <div class="split">
      <List
        {...{ label: 'Received webhooks, newest first', noun: 'message', width: 648 }}
        items={messages}
        above={messages.length > 0 && <ResponseChoice />}
        empty={
          <Empty
            icon="inbox"
            title={isOn ? 'Nothing has arrived yet' : 'Use the inbox'}
            text="The built-in inbox receives webhooks, so you need no server. Faults and retries affect it like any receiver."
          >
            {!isOn && <Button text="Use the inbox" kind="primary" icon="inbox" onClick={subscribeInbox} />}
          </Empty>
        }
        idOf={({ id }) => id}
        selected={here.value.path[0]}
        phone={(message) => [
          read.value.has(message.id) ? (
            <code>{message.type}</code>
          ) : (
            <strong class="mono">{message.type}</strong>
          ),
          subjectOf(message),
          <TimedState at={message.received_at}>
            {message.copy_of !== null ? (
              <Tag tone="warn" icon="bolt">
                copy
              </Tag>
            ) : (
              <Tag tone={message.status < 300 ? 'ok' : 'error'}>{message.status}</Tag>
            )}
          </TimedState>,
        ]}
      >
        {(message) => <MessageDetail key={message.id} message={message} />}
      </List>
    </div>
  )
}

/** The instant and the state at the end of a row. */
export function TimedState({ at, children }: { at: string; children: ComponentChildren }) {
  return (
    <span class="row">
      <time dateTime={at}>{timeOfDay(at)}</time>
      {children}
    </span>
  )
}

/** Maximum characters of the subject of a body without an id. */
const MAX_CHARACTERS = 200

/** The subject of a message: the end of the id and the name of its batch, or the beginning of the body. */
function subjectOf({ body }: Message): string {
  const { data = body } = (body ?? {}) as { readonly data?: unknown }
  const { id, metadata } = (data ?? {}) as { readonly id?: unknown; readonly metadata?: object }
  if (typeof id !== 'string') return JSON.stringify(body).slice(0, MAX_CHARACTERS)
  const name = batchName({ id, metadata: { ...metadata } } as BatchRow)
  return name === shortId(id) ? name : `${shortId(id)} ${name}`
}

/** The received request: its headers, and the bytes that are signed. */
function Raw({ raw: { headers, body } }: Pick<Message, 'raw'>) {
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`)
  const whole = `${lines.join('\n')}\n\n${body}`
  return (
    <>
      <p class="row-actions">
        <CopyButton text={() => whole}>Copy headers and body</CopyButton>
        <CopyButton text={() => body}>Copy the bytes of the body</CopyButton>
      </p>
      {headers === null && <Note>The message was loaded from fixtures, which have no headers.</Note>}
      <pre class="code wrap" role="group" tabIndex={0} aria-label="Raw message">
        {headers === null ? body : whole}
      </pre>
      <p class="hint">
        {sizeOf(new TextEncoder().encode(body).length)} of body. The signature covers exactly these bytes.
      </p>
    </>
  )
}

function MessageDetail({ message }: { message: Message }) {
  const { id, type, received_at, attempt, body, status, signature, signature_problem, raw } = message
  const [tab, setTab] = useState<'body' | 'raw'>('body')
  useEffect(() => mark(id, true), [id])
  const unread = () => {
    mark(id, false)
    open([])
  }
  useKeys({ u: unread })
  return (
    <Detail label={`Message ${id}`} title={<code>{type}</code>} head={<SignatureTag signature={signature} />}>
      <p class="dim">
        Received at {dateTime(received_at)} with attempt {attempt}. Responded {status}.
      </p>
      <p class="row-actions">
        <CopyButton text={() => pretty(body)}>Copy body</CopyButton>
        <Button text="Mark unread" onClick={unread} />
        <Button text="Show the delivery" onClick={() => goTo(linkTo('webhooks', [id]))} />
      </p>
      {signature_problem !== null && (
        <Note tone="error">A receiver that checks signatures refuses this. {signature_problem}</Note>
      )}
      <Tabs label="Message" options={{ body: 'Body', raw: 'Raw' }} value={tab} onChoose={setTab} />
      <div role="tabpanel" aria-label={tab}>
        {tab === 'body' ? <Code label="Body" text={pretty(body)} /> : <Raw raw={raw} />}
      </div>
    </Detail>
  )
}
