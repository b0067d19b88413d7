import { useState } from 'preact/hooks'
import { shellWord } from '../core/shell-word.ts'
import { ask, controlUrl } from './api.ts'
import { ChoiceField } from './fields.tsx'
import { asJson, pretty } from './format.ts'
import { JsonEditor, jsonIssue, useVerdict } from './json-editor.tsx'
import { act } from './live.ts'
import { type RulePart, TEMPLATES } from './rule-templates.ts'
import { Button, CopyButton, Detail, Note } from './ui.tsx'

/** The first text of a rule: from another rule, or from a preset and a request. */
function startOf(rule: RulePart | undefined, start: Readonly<Record<string, string>>): RulePart {
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
export function RuleComposer(props: {
  presets: readonly { readonly name: string }[]
  rule: ({ readonly id: string } & object) | undefined
  start: Readonly<Record<string, string>>
  onClose: () => void
}) {
  const { presets, rule, start, onClose } = props
  const [text, setText] = useState(() => pretty(startOf(rule as RulePart | undefined, start)))
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
    if (await act(send, rule === undefined ? 'The rule is armed.' : 'The rule is changed.')) onClose()
  }
  const curl = () =>
    `curl -X POST ${shellWord(`${controlUrl()}/faults`)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${shellWord(JSON.stringify(JSON.parse(text)))}`
  const draft: RulePart = Object(asJson(text))
  const { match, when = { every: 1 }, preset: _, do: __, ...others } = draft
  const primitives = Object.entries(TEMPLATES).map(([name, part]): [string, RulePart] => {
    return [name, { match: match ?? 'everything', when, ...others, ...part }]
  })
  const written = primitives.find(([, part]) => pretty(part.do) === pretty(draft.do))
  const ofPresets = presets.map(({ name }) => {
    return [`preset ${name}`, { preset: name, ...(match !== 'everything' && { match }), ...others }] as const
  })
  const templates = new Map<string, RulePart>([...primitives, ...(rule === undefined ? ofPresets : [])])
  return (
    <Detail label="Rule" title={rule?.id ?? 'New rule'} onClose={onClose}>
      <ChoiceField
        label="Template"
        value={draft.preset === undefined ? (written?.[0] ?? '') : `preset ${draft.preset}`}
        choices={[
          ['', 'Start from a primitive or a preset'],
          ...[...templates.keys()].map((name) => [name, name] as const),
        ]}
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
          onClick={() => void arm()}
        />
        <CopyButton text={curl}>Copy as curl</CopyButton>
      </p>
    </Detail>
  )
}
