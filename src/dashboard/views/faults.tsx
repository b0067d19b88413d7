import { useState } from 'preact/hooks'
import { ask, type Output } from '../api.ts'
import { confirm } from '../dialogs.tsx'
import { countOf, humanName, pretty } from '../format.ts'
import { Panel } from '../list.tsx'
import { act, isLost } from '../live.ts'
import { useLive } from '../loaded.tsx'
import { Menu } from '../menu.tsx'
import { here, linkTo, open } from '../place.ts'
import { filtered, NoMatch, QueryFilter } from '../query-filter.tsx'
import { RuleComposer } from '../rule-composer.tsx'
import { type Rule, useRules } from '../rules.ts'
import { StateTag } from '../status.tsx'
import { copy } from '../toasts.ts'
import { Button, Card, Note, Switch, Tag, ViewHead } from '../ui.tsx'

type Gate = Output<'GET /gates'>['data'][number]
type PresetRow = Output<'GET /fault-presets'>['data'][number]

async function load() {
  const [presets, gates] = await Promise.all([ask('GET /fault-presets'), ask('GET /gates')])
  return { presets: presets.data, gates: gates.data }
}

/** The match of a rule in words. */
function matchInWords({ match, when }: Rule): string {
  const parts =
    match === 'everything'
      ? ['every request']
      : Object.entries(match).map(([name, value]) =>
          name === 'operation' ? String(value) : `${name} ${JSON.stringify(value)}`,
        )
  const times = Object.entries(when as object).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return [...parts, ...times].join(', ').replaceAll(/["{}]/g, '')
}

/** Whether requests have matched a rule, and it has fired on none of them. Without such a request nothing is known about it. */
const hasNeverFired = ({ fired, matched }: Rule) => fired === 0 && matched > 0

function State({ rule }: { rule: Rule }) {
  const { status } = rule
  if (status !== 'armed') return <Tag icon="minus">{status}</Tag>
  return hasNeverFired(rule) ? <Tag tone="warn">never fired</Tag> : <StateTag state="armed" />
}

export default function Faults() {
  const { data: rules, ...ofRules } = useRules()
  const { data, ...ofPresets } = useLive(load, ['request', 'gate'])
  const notice = ofPresets.notice ?? ofRules.notice
  const { path, query } = here.value
  if (data === undefined || rules === undefined) return notice
  const { presets, gates } = data
  const shown = filtered(presets, ({ name, description }) => `${name} ${description}`)
  const families = [...new Set(shown.map(({ family }) => family))].map(
    (family) => [family, shown.filter((each) => each.family === family)] as const,
  )
  const edited = rules.find(({ id }) => id === path[0])
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
          {families.map(([family, members]) => (
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
              presets={presets}
              rule={edited}
              start={query}
              onClose={() => open([], {})}
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
        {rules.map((rule) => (
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
                {
                  label: 'Reset counters',
                  icon: 'again',
                  run: () => void act(() => ask('POST /faults/{id}/reset', { params: { id: rule.id } })),
                },
                { label: 'Edit', icon: 'settings', run: () => open([rule.id], {}) },
                { label: 'Copy as JSON', icon: 'copy', run: () => void copy(pretty(rule)) },
                {
                  label: 'Remove',
                  icon: 'trash',
                  danger: true,
                  run: () => void act(() => ask('DELETE /faults/{id}', { params: { id: rule.id } })),
                },
              ]}
            />
          </li>
        ))}
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
      <Switch
        on={armed.length > 0}
        label={preset.name}
        hideLabel
        busy={isBusy}
        onToggle={(event) => void toggle(event)}
      />
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
