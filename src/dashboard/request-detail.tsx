import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { ask, type Output } from './api.ts'
import { Chain } from './chain.tsx'
import { Code } from './code.tsx'
import { comparable, DiffLines, RequestCompare } from './differences.tsx'
import { asJson, countOf, durationText, humanName, pretty, sizeOf, timeOfDay } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { act, isLost } from './live.ts'
import { useLive } from './loaded.tsx'
import { Menu, type MenuItem } from './menu.tsx'
import { goTo, here, linkTo, open } from './place.ts'
import type { LogRow } from './requests.ts'
import { DEMO_KEYS, LANGUAGES, type Language, type ShownRequest, snippet } from './snippets.ts'
import { Status } from './status.tsx'
import { copy, toast } from './toasts.ts'
import { Button, Detail, entriesOf, FactList, Links, Note, Tabs } from './ui.tsx'
import { useKeys } from './view-keys.ts'

type Trace = Output<'GET /explain/{request_id}'>

const TABS = { explain: 'Explain', response: 'Response', request: 'Request' }

/** The request as a user can send it with another client. */
function shownRequest({ request, caller, sandbox }: Trace): ShownRequest {
  const { method, path, query, headers, body } = request
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => [value].flat().map((each) => [name, each as string])),
  )
  const demo = DEMO_KEYS.find(({ id }) => id === caller?.key_id)
  const kept = Object.entries(headers).filter(([name]) => !SENT_BY_CLIENTS.has(name))
  return {
    method,
    url: `${location.origin}${path}${search.size === 0 ? '' : `?${search}`}`,
    headers: Object.fromEntries(kept) as Record<string, string>,
    ...(request.body_kept && body !== null && { body }),
    ...(demo !== undefined && {
      key: sandbox.chosen_by === 'token' ? `${demo.token}@${sandbox.name}` : demo.token,
    }),
  }
}

const SENT_BY_CLIENTS = new Set('host user-agent accept content-length connection accept-encoding'.split(' '))

const NEEDS_KEY =
  ' Set WORKSPACE_API_KEY to its key before you run it: the emulator keeps only digests of keys.'

export function RequestDetail({ id, row }: { id: string; row: LogRow | undefined }) {
  const params = { request_id: id }
  const { data, notice } = useLive(() => ask('GET /explain/{request_id}', { params }), [])
  const [tab, setTab] = useState<keyof typeof TABS>('explain')
  const copyAs = (language: Language) => () => {
    if (data === undefined) return
    const shown = shownRequest(data)
    const note = shown.key === undefined ? NEEDS_KEY : ''
    void copy(snippet(language, shown), `Copied as ${LANGUAGES[language]}.${note}`)
  }
  const curl = copyAs('curl')
  const resend = () =>
    void act(async () => {
      const again = await ask('POST /requests/{request_id}/resend', { params })
      open([again.id])
      toast('ok', `Sent again: status ${again.status}.`)
    })
  const compareWith = (other: string) => open([id], { ...here.value.query, compare: other })
  const compare = () => {
    const [other] = comparable(id)
    if (other === undefined) toast('info', 'There is no other request in the log.')
    else compareWith(other.id)
  }
  const compared = here.value.query.compare
  const operation = data?.route.operation ?? row?.operation ?? ''
  const fail = () => goTo(linkTo('faults', ['new'], { operation, key: row?.idempotency_key ?? '' }))
  useKeys({ c: curl, r: resend, f: fail })
  const off = isLost.value ? 'The emulator is not connected.' : undefined
  const others = entriesOf(LANGUAGES).slice(1)
  const items = others.map(([language, label]): MenuItem => {
    return { label: `Copy as ${label}`, icon: 'copy', run: copyAs(language) }
  })
  const title = (
    <code>
      <span class="dim">{row?.method ?? data?.request.method}</span> {row?.path ?? data?.request.path}
    </code>
  )
  return (
    <>
      <Detail label={`Request ${id}`} title={title} head={row && <Status row={row} />}>
        {notice}
        {data !== undefined && (
          <>
            {data.cors !== undefined && <Note tone="warn">{data.cors.mitigation}</Note>}
            {data.unread_query !== undefined && (
              <Note tone="warn">{data.unread_query.map(({ description }) => description).join(' ')}</Note>
            )}
            <p class="row-actions">
              <Button text="Copy as curl" icon="copy" onClick={curl} />
              <Button text="Send again" icon="again" disabled={off} onClick={resend} />
              <Button text="Make this fail" icon="bolt" onClick={fail} />
              <Menu
                label="More about this request"
                items={[...items, { label: 'Compare with…', icon: 'requests', run: compare }]}
              />
            </p>
            <Chain current={id} />
            <Tabs label="Parts of the request" options={TABS} value={tab} onChoose={setTab} />
            <div role="tabpanel" aria-label={tab}>
              {tab === 'explain' && <Explain trace={data} />}
              {tab === 'response' && <Response trace={data} />}
              {tab === 'request' && <Request trace={data} />}
            </div>
          </>
        )}
      </Detail>
      {compared !== undefined && (
        <RequestCompare id={id} other={compared} onChoose={compareWith} onClose={() => compareWith('')} />
      )}
    </>
  )
}

/** What each step of a request does. */
const STEP_WORDS: Readonly<Record<Trace['steps'][number]['step'], string>> = {
  receive: 'The server reads the request and chooses its sandbox.',
  route: 'Method and path choose the operation.',
  runDueEvents: 'Every event that is due by now happens first, such as a batch that completes.',
  authenticate: 'The API key decides who the caller is.',
  rateLimit: 'The request is counted in its rate window, which refuses it when it is full.',
  checkPathIds: 'The ids in the path must have the right form.',
  authorize: 'The caller must have the permission for the operation.',
  faultsBefore: 'Fault rules that act before the handler can delay, replace or cut the response.',
  loadTarget: 'The record that the path names must exist, and the caller must see it.',
  replay: 'A known Idempotency-Key gets the response of its first request again.',
  validate: 'Query and body must satisfy the schema of the operation.',
  poll: 'A read of a batch counts as a poll, which can move the batch to its next state.',
  handle: 'The operation does its work.',
  commit: 'The changes are stored, all of them or none.',
  faultsAfter: 'Fault rules that act after the handler can change, delay or cut the response.',
  log: 'The request and its response are added to the log.',
}

/** The step that decided, as a newcomer can read it: whose limit it was, or what the step is for; and what a fault did to it. */
function Decision({ trace: { steps, limiter, error, summary, faults, cors } }: { trace: Trace }) {
  const step = steps.find(({ outcome }) => outcome === 'decided')
  const [teamspace] = limiter.key?.split(' ') ?? []
  const isLimit = step?.step === 'rateLimit' && error !== null && teamspace !== undefined
  const fired = faults.filter((each) => each.fired).map(({ rule }) => rule)
  const tone = error !== null ? 'error' : fired.length > 0 ? 'warn' : 'ok'
  const first = isLimit
    ? `The limit refused it: the teamspace ${teamspace} had sent ${limiter.limit} requests in ${limiter.window_s} s.`
    : fired.length > 0
      ? `A fault acted: ${fired.join(', ')}.`
      : step && `${humanName(step.step)} decided. ${STEP_WORDS[step.step]}`
  return (
    <Note tone={tone} icon={fired.length > 0 ? 'bolt' : tone}>
      <strong>{first}</strong> {fired.length > 0 || cors !== undefined ? summary : step?.description}
    </Note>
  )
}

/** What steps or fault rules did; those that changed something stand out. */
function Steps({ items }: { items: readonly { icon: IconName; name: VNode; description: string }[] }) {
  return (
    <ol class="steps small dim">
      {items.map(({ icon, name, description }, index) => (
        <li key={index} class={icon === 'bolt' ? 'decided fired' : ''}>
          <Icon name={icon} />
          {name}
          <span>{description}</span>
        </li>
      ))}
    </ol>
  )
}

function Explain({ trace }: { trace: Trace }) {
  const left = trace.steps.filter(({ outcome }) => outcome === 'not reached').length
  const passed = trace.steps.filter(({ outcome }) => outcome === 'passed')
  const steps = passed.map(({ step, description }) => {
    const isFault = step === 'faultsBefore' || step === 'faultsAfter'
    const icon: IconName = isFault && !description.startsWith('No fault') ? 'bolt' : 'ok'
    const name = (
      <strong>
        <abbr title={STEP_WORDS[step]}>{humanName(step)}</abbr>
      </strong>
    )
    return { icon, name, description }
  })
  const idle = steps.filter(({ icon }) => icon === 'ok')
  const rules = trace.faults.map(({ rule, fired, description }) => {
    const icon: IconName = fired ? 'bolt' : 'minus'
    return { icon, name: <a href={linkTo('faults', [rule])}>{rule}</a>, description }
  })
  const assumed = trace.assumptions.map(({ id, open: question }) => {
    return [linkTo('settings', [], { filter: id }), id, question] as const
  })
  return (
    <>
      <Decision trace={trace} />
      <Steps items={steps.filter(({ icon }) => icon === 'bolt')} />
      <Changes trace={trace} />
      <details>
        <summary>
          {countOf(idle.length, 'step')} did nothing{left > 0 && `, ${left} not reached`}
        </summary>
        <Steps items={idle} />
      </details>
      {trace.faults.length > 0 && (
        <>
          <h3>Fault rules</h3>
          <Steps items={rules} />
        </>
      )}
      {trace.assumptions.length > 0 && (
        <>
          <h3>Assumptions</h3>
          <Links items={assumed} />
        </>
      )}
    </>
  )
}

function Changes({ trace }: { trace: Trace }) {
  const line = ({ kind, ref, at }: Trace['scheduled'][number]) => `${timeOfDay(at)} ${kind} ${ref}`
  const events = [
    ...trace.scheduled.map((event) => ['+', line(event)] as const),
    ...trace.unscheduled.map((event) => ['-', line(event)] as const),
  ]
  if (trace.changes.length + events.length === 0) return <p class="hint">The request changed nothing.</p>
  return (
    <div class="diff">
      {trace.changes.map(({ ref, action, patch }) => (
        <section key={ref}>
          <h3>
            <a href={linkTo('data', ref.split('/'))}>{ref}</a> {action}
          </h3>
          <DiffLines
            lines={patch.map((operation) => [
              operation.op === 'remove' ? '-' : '+',
              `${operation.path || '/'} ${'value' in operation ? shortened(operation.value) : ''}`,
            ])}
          />
        </section>
      ))}
      {events.length > 0 && (
        <section>
          <h3>schedule</h3>
          <DiffLines lines={events} />
        </section>
      )}
    </div>
  )
}

const MAX_SHOWN = 4_000

function shortened(value: unknown): string {
  const text = pretty(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} … ${text.length} characters in all` : text
}

function Response({ trace }: { trace: Trace }) {
  const { deliveries, response } = trace
  return (
    <>
      {trace.faults
        .filter(({ sent }) => sent !== null && sent.end !== 'whole')
        .map(({ rule, sent }) => (
          <Note key={rule} tone="warn" icon="bolt">
            {`${rule}: ${sizeOf(sent?.bytes ?? 0)} reached the connection, the last stage was ${sent?.stage}, and the response was ${sent?.end}. The prepared response is below.`}
          </Note>
        ))}
      {response === null ? <Note>There was no response.</Note> : <ResponseBody response={response} />}
      {deliveries.length > 0 && <h3>Webhooks</h3>}
      <Links items={deliveries.map(({ id, type, url }) => [linkTo('webhooks', [id]), type, url])} />
    </>
  )
}

function ResponseBody({ response }: { response: NonNullable<Trace['response']> }) {
  const { body, body_kept, body_bytes, headers } = response
  const type = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? ''
  return (
    <>
      {body === null ? (
        <Note>
          {body_bytes === 0
            ? 'The response has no body.'
            : `The body of ${sizeOf(body_bytes)} is no longer kept.`}
        </Note>
      ) : type.includes('ndjson') ? (
        <ol class="lines">
          {body
            .split('\n')
            .filter((line) => line !== '')
            .map((line, index) => (
              <li key={index}>
                <code title={line}>{line}</code>
              </li>
            ))}
        </ol>
      ) : (
        <Code label="Body of the response" text={pretty(asJson(body)) || body} />
      )}
      {body !== null && !body_kept && <Note>{`These are the first 16 kB of ${sizeOf(body_bytes)}.`}</Note>}
      <h3>Headers</h3>
      <FactList facts={headers.map(({ name, value }) => [name, value])} />
    </>
  )
}

/** The connection of a request in short: `c3, request 2 after 12 ms, response left by the client`. */
function connectionText(evidence: NonNullable<Trace['evidence']>): string {
  const { connection, requests_before: before, idle_before_ms: idle, end } = evidence
  const after = idle === null ? '' : ` after ${durationText(idle)}`
  const ended = { whole: 'sent whole', cut: 'cut', held: 'held open', left: 'left by the client' }
  const closed = connection.closed_by === null ? '' : `, closed by the ${connection.closed_by}`
  return `${connection.id}, request ${before + 1}${after}, response ${end === null ? 'not sent yet' : ended[end]}${closed}`
}

function Request({ trace: { request, route, caller, trace, evidence } }: { trace: Trace }) {
  const facts = [
    ['Operation', route.operation ?? `none; nearest: ${route.near_misses.join(', ') || 'none'}`],
    ...(route.place === undefined ? [] : [['Defined at', route.place]]),
    ['Caller', caller === null ? 'unknown' : `${caller.key_id}, ${caller.kind}, ${caller.teamspace_id}`],
    ...(trace === undefined ? [] : [['Trace', trace]]),
    ...(evidence ? [['Connection', connectionText(evidence)]] : []),
    ...Object.entries(request.query).map(([name, value]) => [`?${name}`, [value].flat().join(', ')]),
  ]
  return (
    <>
      <FactList facts={facts as [string, string][]} />
      <h3>Body</h3>
      {request.body_kept ? (
        <Code label="Body" text={pretty(request.body)} />
      ) : (
        <Note>The request had no body, or the body was too large to keep.</Note>
      )}
      <h3>Headers, without credentials</h3>
      <FactList facts={entriesOf(request.headers).map(([name, value]) => [name, value ?? ''])} />
    </>
  )
}
