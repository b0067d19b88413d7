import { useState } from 'preact/hooks'
import { shellWord } from '../core/shell-word.ts'
import { ask, controlUrl } from './api.ts'
import { ChoiceField } from './fields.tsx'
import { pretty } from './format.ts'
import { JsonEditor, jsonIssue } from './json-editor.tsx'
import { act } from './live.ts'
import { useLive } from './loaded.tsx'
import { type RulePart, TEMPLATES, WHENS } from './rule-templates.ts'
import { Button, CopyButton, Detail, Note } from './ui.tsx'
import { useVerdict } from './verdict.ts'

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
  const { data: operations } = useLive(() => ask('GET /operations'), [])
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
  const draft: RulePart = syntax === undefined ? JSON.parse(text) : {}
  const { operation: _, ...others } = isObject(draft.match) ? draft.match : {}
  const all = draft.preset === undefined ? 'everything' : undefined
  const rest = pretty(others) === '{}' ? all : others
  const primitives = Object.entries(TEMPLATES).map(([name, part]) => {
    return [name, { preset: undefined, match: draft.match ?? 'everything', ...part }] as const
  })
  const ofPresets = presets.map(({ name }) => {
    const match = isObject(draft.match) ? draft.match : undefined
    return [`preset ${name}`, { preset: name, match, do: undefined }] as const
  })
  const names = operations?.data.map(({ name }) => name) ?? []
  const parts: Readonly<Record<string, readonly (readonly [string, RulePart])[]>> = {
    Template: [...primitives, ...(rule === undefined ? ofPresets : [])],
    Operation: [
      [all ?? 'from the preset', { match: rest }],
      ...names.map((name) => [name, { match: { ...others, operation: name } }] as const),
    ],
    When: Object.entries(WHENS),
  }
  return (
    <Detail label="Rule" head={<h2>{rule === undefined ? 'New rule' : rule.id}</h2>} onClose={onClose}>
      <div class="fields">
        {Object.entries(parts).map(([label, choices]) => (
          <ChoiceField
            key={label}
            label={label}
            value={choices.find(([, part]) => isIn(part, draft))?.[0] ?? ''}
            choices={[['', 'as written'], ...choices.map(([name]) => [name, name] as const)]}
            onChoose={(chosen) =>
              setText(pretty({ ...draft, ...choices.find(([name]) => name === chosen)?.[1] }))
            }
          />
        ))}
      </div>
      <div class="field stack">
        <span class="label">JSON</span>
        <JsonEditor label="Rule as JSON" value={text} issues={issues} onChange={setText} />
      </div>
      <Note>
        {draft.preset === undefined ? 'A template is a start' : 'A preset is a rule with a name'}: values here
        override it. Also possible are times, ttl and priority.
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

const isObject = (value: unknown): value is RulePart => typeof value === 'object' && value !== null

/** Whether a rule has the fields of a part with the same values. */
const isIn = (part: RulePart, rule: RulePart) =>
  Object.entries(part).every(([field, value]) => pretty(value) === pretty(rule[field]))
