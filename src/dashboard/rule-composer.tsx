import { useState } from 'preact/hooks'
import { shellWord } from '../core/shell-word.ts'
import { ask, controlUrl } from './api.ts'
import { ChoiceField, TextField } from './fields.tsx'
import { pretty } from './format.ts'
import { JsonEditor, jsonIssue } from './json-editor.tsx'
import { act } from './live.ts'
import { useLive } from './loaded.tsx'
import { Button, CopyButton, Detail, Note } from './ui.tsx'
import { useVerdict } from './verdict.ts'

interface Draft {
  readonly preset?: string
  readonly match?: Readonly<Record<string, unknown>> | string
  readonly when?: Readonly<Record<string, unknown>>
  readonly times?: number
}

const WHENS = [
  ['', 'Every match'],
  ['nth', 'Only match number'],
  ['first', 'The first matches'],
  ['every', 'Every n-th match'],
  ['after', 'After this many matches'],
] as const

const COUNTED_BY = ['api_key', 'idempotency_key', 'operation', 'connection', 'resource_id']

/** Choices for an optional name. */
const namesOr = (none: string, names: readonly string[]) => [
  ['', none] as const,
  ...names.map((name) => [name, name] as const),
]

/** The first draft of a rule: from another rule, from a preset, or from a request. */
function startOf(rule: object | undefined, start: Readonly<Record<string, string>>): Draft {
  if (rule !== undefined) {
    const { match, when, do: actions, times, priority, ttl } = rule as Record<string, unknown>
    return { match, when, do: actions, times, priority, ttl } as Draft
  }
  const { preset = 'server-error', operation = '', key = '' } = start
  const match = {
    ...(operation !== '' && { operation }),
    ...(key !== '' && { idempotency_key: key }),
  }
  return { preset, ...(Object.keys(match).length > 0 && { match }) }
}

/** A draft without its empty fields. */
function cleaned(draft: Draft): Draft {
  return Object.fromEntries(
    Object.entries(draft).filter(
      ([, value]) => value !== null && value !== undefined && !['""', '{}'].includes(JSON.stringify(value)),
    ),
  ) as Draft
}

export function RuleComposer(props: {
  presets: readonly { readonly name: string }[]
  rule: ({ readonly id: string } & object) | undefined
  start: Readonly<Record<string, string>>
  onClose: () => void
}) {
  const { rule } = props
  const [text, setText] = useState(() => pretty(cleaned(startOf(rule, props.start))))
  const { data: operations } = useLive(() => ask('GET /operations'), [])
  const syntax = jsonIssue(text)
  const draft = syntax === undefined ? (JSON.parse(text) as Draft) : undefined
  const check = () => ask('POST /faults', { body: JSON.parse(text), query: { dry_run: 'true' } })
  const verdict = useVerdict(text, syntax === undefined ? check : undefined)
  const change = (part: Draft) => draft !== undefined && setText(pretty(cleaned({ ...draft, ...part })))
  const issues = syntax === undefined ? (verdict ?? []) : [syntax]
  const arm = async () => {
    const done = await act(
      async () => {
        if (rule === undefined) await ask('POST /faults', { body: JSON.parse(text) })
        else await ask('PATCH /faults/{id}', { params: { id: rule.id }, body: JSON.parse(text) })
      },
      rule === undefined ? 'The rule is armed.' : 'The rule is changed.',
    )
    if (done) props.onClose()
  }
  const curl = () =>
    `curl -X POST ${shellWord(`${controlUrl()}/faults`)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${shellWord(JSON.stringify(draft))}`
  return (
    <Detail label="Rule" head={<h2>{rule === undefined ? 'New rule' : rule.id}</h2>} onClose={props.onClose}>
      <Fields
        draft={draft ?? {}}
        isEdit={rule !== undefined}
        presets={props.presets}
        operations={operations?.data.map(({ name }) => name) ?? []}
        onChange={change}
      />
      <div class="field stack">
        <span class="label">JSON</span>
        <JsonEditor label="Rule as JSON" value={text} issues={issues} onChange={setText} />
      </div>
      {draft?.preset !== undefined && <Note>A preset is a rule with a name. Values here override it.</Note>}
      <p class="row-actions">
        <Button
          kind="primary"
          disabled={issues.length === 0 ? undefined : 'The rule is not valid yet.'}
          onClick={() => void arm()}
        >
          {rule === undefined ? 'Arm rule' : 'Save rule'}
        </Button>
        <CopyButton text={curl}>Copy as curl</CopyButton>
      </p>
    </Detail>
  )
}

function Fields(props: {
  draft: Draft
  isEdit: boolean
  presets: readonly { readonly name: string }[]
  operations: readonly string[]
  onChange: (part: Draft) => void
}) {
  const { draft, onChange } = props
  const match = typeof draft.match === 'object' ? draft.match : {}
  const [kind = '', count] =
    Object.entries(draft.when ?? {}).find(([name]) => WHENS.some(([each]) => each === name)) ?? []
  const by = String(draft.when?.by ?? '')
  const when = (next: string, n: unknown, scope: string) =>
    onChange({ when: next === '' ? {} : { [next]: Number(n) || 1, ...(scope !== '' && { by: scope }) } })
  const number = (label: string, value: unknown, set: (value: number | undefined) => void) => (
    <TextField
      label={label}
      type="number"
      min={1}
      value={String(value ?? '')}
      onInput={(text) => set(text === '' ? undefined : Number(text))}
    />
  )
  return (
    <div class="fields">
      {!props.isEdit && (
        <ChoiceField
          label="Start from preset"
          value={draft.preset ?? ''}
          choices={namesOr(
            'none',
            props.presets.map(({ name }) => name),
          )}
          onChoose={(preset) => onChange({ preset })}
        />
      )}
      <ChoiceField
        label="Operation"
        value={String(match.operation ?? '')}
        choices={namesOr('from the preset', props.operations)}
        onChoose={(operation) =>
          onChange({ match: cleaned({ ...match, operation } as Draft) as Record<string, unknown> })
        }
      />
      <div class="pair">
        <ChoiceField label="When" value={kind} choices={WHENS} onChoose={(next) => when(next, count, by)} />
        {kind !== '' && number('Number', count, (n) => when(kind, n, by))}
        {kind !== '' && (
          <ChoiceField
            label="Count by"
            value={by}
            choices={namesOr('the rule', COUNTED_BY)}
            onChoose={(scope) => when(kind, count, scope)}
          />
        )}
        {number('Times, then spent', draft.times, (times) => onChange({ times } as Draft))}
      </div>
    </div>
  )
}
