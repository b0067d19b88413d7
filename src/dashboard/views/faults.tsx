import { useState } from 'preact/hooks'
import { groupBy } from '../../core/conduct/observed.ts'
import { shellWord } from '../../core/shell-word.ts'
import { ask, controlUrl, type Output } from '../api.ts'
import { confirm } from '../dialogs.tsx'
import { ChoiceField } from '../fields.tsx'
import { asJson, countOf, humanName, pretty } from '../format.ts'
import { JsonEditor, jsonIssue, useVerdict } from '../json-editor.tsx'
import { Panel } from '../list.tsx'
import { act, isLost } from '../live.ts'
import { useLive } from '../loaded.tsx'
import { Menu } from '../menu.tsx'
import { here, linkTo, open } from '../place.ts'
import { filtered, NoMatch, QueryFilter } from '../query-filter.tsx'
import { type Rule, useRules } from '../rules.ts'
import { StateTag } from '../status.tsx'
import { copy } from '../toasts.ts'
import { Button, Card, CopyButton, Detail, Note, Switch, Tag, ViewHead } from '../ui.tsx'

type Gate = Output<'GET /gates'>['data'][number]
type PresetRow = Output<'GET /fault-presets'>['data'][number]

const load = () => Promise.all([ask('GET /fault-presets'), ask('GET /gates')])

/** The match of a rule in words. */
function matchInWords({ match, when }: Rule): string {
  const wordsOf = (fields: object) =>
    Object.entries(fields).map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return name === 'operation' ? text : `${name} ${text}`
    })
  const parts = match === 'everything' ? ['every request'] : wordsOf(match)
  return [...parts, ...wordsOf(when as object)].join(', ').replaceAll(/["{}]/g, '')
}

/** Whether requests have matched a rule, and it has fired on none of them. Without such a request nothing is known about it. */
const hasNeverFired = ({ fired, matched }: Rule) => fired === 0 && matched > 0

function State({ rule }: { rule: Rule }) {
  if (rule.status !== 'armed') return <Tag icon="minus">{rule.status}</Tag>
  return hasNeverFired(rule) ? <Tag tone="warn">never fired</Tag> : <StateTag state="armed" />
}

export default function Faults() {
  const { data: rules, ...ofRules } = useRules()
  const { data, ...ofPresets } = useLive(load, ['request', 'gate'])
  const notice = ofPresets.notice ?? ofRules.notice
  const { path, query } = here.value
  if (data === undefined || rules === undefined) return notice
  const [parts, { data: gates }] = data
  const presets = parts.data
  const shown = filtered(presets, ({ name, description }) => `${name} ${description}`)
  const clear = () =>
    confirm({
      title: 'Clear all rules?',
      text: `${countOf(rules.length, 'rule')} and their counters are removed.`,
      action: 'Clear all',
      run: () => ask('DELETE /faults'),
      done: 'All rules are removed.',
    })
  return (
    <>
      <ViewHead
        title="Faults"
        summary={`${countOf(presets.length, 'preset')} · ${rules.filter(({ status }) => status === 'armed').length} armed`}
      >
        <QueryFilter label="Search presets" />
        {rules.length > 0 && <Button text="Clear all" kind="danger" icon="trash" onClick={clear} />}
        <Button text="New rule" kind="primary" icon="plus" onClick={() => open(['new'], {})} />
      </ViewHead>
      <div class="split">
        <section class="list pad-all" tabIndex={0} aria-label="Rules and presets">
          {notice}
          <Rules rules={rules} />
          {gates.map((gate) => (
            <GateCard key={`${gate.id} ${gate.at}`} gate={gate} />
          ))}
          <LatencyCard rules={rules} />
          {[...groupBy(shown, ({ family }) => family)].map(([family, members]) => (
            <Card key={family} title={humanName(family)} hint={countOf(members.length, 'preset')}>
              <ul class="rows presets">
                {members.map((preset) => (
                  <Preset key={preset.name} preset={preset} rules={rules} />
                ))}
              </ul>
            </Card>
          ))}
          {shown.length === 0 && <NoMatch count={presets.length} noun="preset" />}
        </section>
        {path.length > 0 && (
          <Panel name="rule" width={384}>
            <RuleComposer
              key={[...path, query.preset, query.operation, query.key].join()}
              {...{ parts, rules }}
            />
          </Panel>
        )}
      </div>
    </>
  )
}

function Rules({ rules }: { rules: readonly Rule[] }) {
  const never = rules.filter(hasNeverFired).length
  if (rules.length === 0) return <Note>No rule is armed. Switch on a preset, or write your own rule.</Note>
  return (
    <Card
      title="Rules"
      hint={countOf(rules.length, 'rule')}
      actions={never > 0 && <Tag tone="warn">{never} never fired</Tag>}
    >
      <ul class="rows rules">
        {rules.map((rule) => {
          const params = { id: rule.id }
          const reset = () => ask('POST /faults/{id}/reset', { params })
          const remove = () => ask('DELETE /faults/{id}', { params })
          return (
            <li key={rule.id} class={rule.status === 'armed' ? '' : 'spent'}>
              <span class="grow">
                <a class="mono" href={linkTo('faults', [rule.id])}>
                  {rule.id}
                </a>
                <span class="hint">{matchInWords(rule)}</span>
              </span>
              <span>
                <strong>{rule.fired}</strong> of {rule.matched}
              </span>
              <State rule={rule} />
              <Menu
                label={`More about ${rule.id}`}
                items={[
                  { label: 'Reset counters', icon: 'again', run: () => void act(reset) },
                  { label: 'Edit', icon: 'settings', run: () => open([rule.id], {}) },
                  { label: 'Copy as JSON', icon: 'copy', run: () => void copy(pretty(rule)) },
                  { label: 'Remove', icon: 'trash', danger: true, run: () => void act(remove) },
                ]}
              />
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

/** A gate, with a button for everything that waits at it. */
function GateCard({ gate: { id, at, held } }: { gate: Gate }) {
  const release = (requests?: string[]) =>
    void act(() => ask('POST /gates/{id}/release', { params: { id }, body: { requests } }))
  return (
    <Card
      title={`Waiting at ${id}`}
      hint={`${at}, ${countOf(held.length, 'request')}`}
      actions={held.length > 1 && <Button text="Release all" onClick={() => release()} />}
    >
      <ul class="rows rules">
        {held.map((each) => (
          <li key={each.id}>
            <span class="grow">
              <code>{each.name}</code>
              <span class="hint">
                {each.id}, since {each.since}
              </span>
            </span>
            <StateTag state="held" />
            <Button text="Release" onClick={() => release([each.id])} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Preset({ preset, rules }: { preset: PresetRow; rules: readonly Rule[] }) {
  const [isBusy, setBusy] = useState(false)
  const own = rules.filter((rule) => rule.preset === preset.name)
  const armed = own.filter(({ status }) => status === 'armed')
  const toggle = async (event: MouseEvent) => {
    if (event.shiftKey) return open(['new'], { preset: preset.name })
    if (isLost.value) return
    setBusy(true)
    await act(async () => {
      if (armed.length === 0) await ask('POST /faults', { body: { preset: preset.name } })
      for (const { id } of armed) await ask('DELETE /faults/{id}', { params: { id } })
    })
    setBusy(false)
  }
  const [one] = own
  return (
    <li>
      <Switch on={armed.length > 0} label={preset.name} hideLabel busy={isBusy} onToggle={toggle} />
      <span class="grow">
        <code>{preset.name}</code>
        <span class="hint">{preset.description}</span>
      </span>
      <span class="hint fixed right">
        {preset.lasts === 'once' ? 'once' : 'until off'}
        {one !== undefined && (
          <span>{one.status === 'armed' ? `fired ${one.fired} of ${one.matched}` : one.status}</span>
        )}
      </span>
    </li>
  )
}

/** The id of the rule that the slider changes. */
const LATENCY = 'latency'

/** A slider for a delay of every response before its head is sent, with a separate rule. */
function LatencyCard({ rules }: { rules: readonly Rule[] }) {
  const rule = rules.find(({ id }) => id === LATENCY)
  const [action] = (rule?.do ?? []) as readonly { readonly pace?: { readonly before_head_ms?: number } }[]
  const [ms, setMs] = useState(action?.pace?.before_head_ms ?? 300)
  const remove = () => ask('DELETE /faults/{id}', { params: { id: LATENCY } })
  const arm = async (delay: number) => {
    if (rule !== undefined) await remove()
    const actions = [{ pace: { before_head_ms: delay } }]
    await ask('POST /faults', { body: { id: LATENCY, match: 'everything', do: actions, then: 'continue' } })
  }
  return (
    <section class="card latency row strip" aria-label="Latency">
      <label for="latency">Latency</label>
      <input
        {...{ class: 'grow', id: 'latency', type: 'range', min: 0, max: 5_000, step: 50, value: ms }}
        onInput={(event) => setMs(event.currentTarget.valueAsNumber)}
        onChange={(event) => rule && void act(() => arm(event.currentTarget.valueAsNumber))}
      />
      <code>{ms} ms</code>
      <Switch
        on={rule !== undefined}
        label="Delay every response"
        hideLabel
        onToggle={() => void act(rule === undefined ? () => arm(ms) : remove)}
      />
    </section>
  )
}

/** Some fields of a rule, as they are written. */
type RulePart = Readonly<Record<string, unknown>>

/** The first text of a rule: from another rule, or from a preset and a request. */
function startOf(rule: Rule | undefined, start: Readonly<Record<string, string>>): RulePart {
  if (rule !== undefined) {
    const { match, when, do: actions, times, priority, ttl } = rule
    const given = Object.entries({ match, when, do: actions, times, priority, ttl })
    return Object.fromEntries(given.filter(([, value]) => value !== null && pretty(value) !== '{}'))
  }
  const { preset = 'server-error', operation = '', key = '' } = start
  const match = { ...(operation !== '' && { operation }), ...(key !== '' && { idempotency_key: key }) }
  return { preset, ...(operation + key !== '' && { match }) }
}

/** A rule as JSON, which the emulator checks while it is typed. */
function RuleComposer({ parts, rules }: { parts: Output<'GET /fault-presets'>; rules: readonly Rule[] }) {
  const { path, query } = here.value
  const rule = rules.find(({ id }) => id === path[0])
  const [text, setText] = useState(() => pretty(startOf(rule, query)))
  const close = () => open([], {})
  const syntax = jsonIssue(text)
  const check = () => ask('POST /faults', { body: JSON.parse(text), query: { dry_run: 'true' } })
  const verdict = useVerdict(text, syntax === undefined ? check : undefined)
  const issues = syntax === undefined ? (verdict ?? []) : [syntax]
  const arm = async () => {
    const body = JSON.parse(text)
    const send = () =>
      rule === undefined
        ? ask('POST /faults', { body })
        : ask('PATCH /faults/{id}', { params: { id: rule.id }, body })
    if (await act(send, rule === undefined ? 'The rule is armed.' : 'The rule is changed.')) close()
  }
  const curl = () =>
    `curl -X POST ${shellWord(`${controlUrl()}/faults`)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${shellWord(JSON.stringify(JSON.parse(text)))}`
  const draft: RulePart = Object(asJson(text))
  const { match, when = { every: 1 }, preset: _, do: __, ...others } = draft
  const ofPrimitives = parts.primitives.map(({ name, example }): [string, RulePart] => {
    const own = example.match === 'everything' ? { do: example.do } : example
    return [name, { match: match ?? 'everything', when, ...others, ...own }]
  })
  const [written] = ofPrimitives.find(([, part]) => pretty(part.do) === pretty(draft.do)) ?? ['']
  const ofPresets = parts.data.map(({ name }) => {
    return [`preset ${name}`, { preset: name, ...(match !== 'everything' && { match }), ...others }] as const
  })
  const templates = new Map<string, RulePart>([...ofPrimitives, ...(rule === undefined ? ofPresets : [])])
  const names = [...templates.keys()].map((name) => [name, name] as const)
  return (
    <Detail label="Rule" title={rule?.id ?? 'New rule'} onClose={close}>
      <ChoiceField
        label="Template"
        value={draft.preset === undefined ? written : `preset ${draft.preset}`}
        choices={[['', 'Start from a primitive or a preset'], ...names]}
        onChoose={(name) => setText(pretty(templates.get(name) ?? draft))}
      />
      <div class="field stack">
        <span class="label">JSON</span>
        <JsonEditor label="Rule as JSON" value={text} issues={issues} onChange={setText} />
      </div>
      <Note>
        {draft.preset !== undefined && 'A preset is a rule with a name: values here override it. '}
        <code>match</code> can have an operation, <code>when</code> one of nth, first, every and after, with
        by. <code>times</code> and <code>ttl</code> end a rule.
      </Note>
      <p class="row-actions">
        <Button
          text={rule === undefined ? 'Arm rule' : 'Save rule'}
          kind="primary"
          disabled={issues.length === 0 ? undefined : 'The rule is not valid yet.'}
          onClick={arm}
        />
        <CopyButton text={curl}>Copy as curl</CopyButton>
      </p>
    </Detail>
  )
}
