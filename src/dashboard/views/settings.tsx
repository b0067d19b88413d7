import { useId, useState } from 'preact/hooks'
import { ask, type Output } from '../api.ts'
import { Select, valuesOf } from '../fields.tsx'
import { asJson, pretty } from '../format.ts'
import { Icon } from '../icon.tsx'
import { JsonDialog, useVerdict } from '../json-editor.tsx'
import { act, isLost } from '../live.ts'
import { useLive } from '../loaded.tsx'
import { refine } from '../place.ts'
import { filtered, filterText, QueryFilter } from '../query-filter.tsx'
import { fieldOf, type JsonSchema } from '../record-schema.ts'
import { hasLetterKeys, theme } from '../theme.ts'
import { Button, Card, Empty, Segments, Switch, Tag, ViewHead } from '../ui.tsx'

type Item = Output<'GET /assumptions'>['data'][number]
type Setting = Item['settings'][number]

const isChanged = ({ value, default: usual }: Setting) => JSON.stringify(value) !== JSON.stringify(usual)

const KINDS = {
  used: ({ used }: Item) => used > 0,
  changed: ({ settings }: Item) => settings.some(isChanged),
  all: () => true,
}

const MAX_SHOWN = 200

export default function Settings() {
  const { data, notice } = useLive(() => ask('GET /assumptions'), ['request', 'scenario'])
  const text = filterText()
  const [which, setWhich] = useState<keyof typeof KINDS>(text === '' ? 'used' : 'all')
  const [isEditing, setEditing] = useState(false)
  if (data === undefined) return notice
  const items = data.data
  const shown = filtered(
    items.filter(KINDS[which]),
    ({ id, open, decision, settings }) => `${id} ${open} ${decision} ${settings.map(({ key }) => key)}`,
  )
  const counts = `${items.length} open questions · ${items.filter(KINDS.used).length} used · ${items.filter(KINDS.changed).length} changed`
  const showAll = () => {
    setWhich('all')
    refine({ filter: '' })
  }
  const isUnused = which === 'used' && text === ''
  return (
    <>
      <ViewHead title="Settings" summary={counts}>
        <QueryFilter label="Search settings" />
        <Segments
          label="Which"
          options={{ used: 'Used', changed: 'Changed', all: 'All' }}
          value={which}
          onChoose={setWhich}
        />
        <Button text="Edit as JSON" disabled={isLost.value} onClick={() => setEditing(true)} />
      </ViewHead>
      {isEditing && <SettingsDialog items={items} onClose={() => setEditing(false)} />}
      <section class="scroll" tabIndex={0} aria-label="Settings and assumptions">
        {notice}
        {shown.length === 0 ? (
          <Empty
            icon="settings"
            title={isUnused ? 'No response has used an assumption yet' : 'No setting matches'}
            text="Settings decide the questions that the specification leaves open. Show all to see every question."
          >
            <Button text="Show all" onClick={showAll} />
          </Empty>
        ) : (
          <ul class="card rows settings">
            <li class="hint">The specification leaves open:</li>
            {shown.slice(0, MAX_SHOWN).map((item) => (
              <Question key={item.id} item={item} />
            ))}
          </ul>
        )}
        <Card title="This page" hint="kept in this browser">
          <div class="pad row-actions">
            <Segments
              label="Colours"
              options={{ system: 'System', light: 'Light', dark: 'Dark' }}
              value={theme.value}
              onChoose={(next) => {
                theme.value = next
              }}
            />
            <Switch
              on={hasLetterKeys.value}
              label="Single letters are keys"
              onToggle={() => {
                hasLetterKeys.value = !hasLetterKeys.value
              }}
            />
          </div>
        </Card>
      </section>
    </>
  )
}

/** The changed settings as one document. A setting that is removed from it gets its default again. */
function SettingsDialog({ items, onClose }: { items: readonly Item[]; onClose: () => void }) {
  const all = items.flatMap(({ settings }) => settings)
  const [before] = useState(
    () => new Map<string, unknown>(all.filter(isChanged).map(({ key, value }) => [key, value])),
  )
  const submit = (value: unknown) => {
    const after = new Map(Object.entries(value as object))
    const removed = [...before.keys()].filter((key) => !after.has(key)).map((key) => [key, null] as const)
    // Only changed values are sent, because a secret is shown as a mask.
    const changes = [...after].filter(([key, next]) => pretty(next) !== pretty(before.get(key)))
    return ask('PATCH /settings', { body: Object.fromEntries([...changes, ...removed]) as never })
  }
  return (
    <JsonDialog
      title="Changed settings"
      text="Every setting that differs from its default. Remove a key to restore its default."
      value={pretty(Object.fromEntries(before))}
      action="Save settings"
      done="The settings are saved."
      onSubmit={submit}
      onClose={onClose}
    />
  )
}

function Question({ item }: { item: Item }) {
  return (
    <li>
      <code>{item.id}</code>
      <details class="grow">
        <summary>{item.open}</summary>
        <p class="hint">{item.decision}</p>
        {item.settings.map(({ key, description }) => (
          <p key={key} class="hint">
            <code>{key}</code> {description}
          </p>
        ))}
      </details>
      <span class="values stack">
        {item.settings.map((setting) => (
          <Value key={setting.key} setting={setting} />
        ))}
        {item.settings.length === 0 && <span class="hint">fixed</span>}
      </span>
      <span class="hint fixed">{item.used > 0 && `${item.used}×`}</span>
    </li>
  )
}

function Value({ setting }: { setting: Setting }) {
  const { key, value, default: usual, description, schema } = setting
  const id = useId()
  const stored = typeof value === 'string' ? value : JSON.stringify(value)
  const [text, setText] = useState<string | undefined>(undefined)
  const field = fieldOf(schema as JsonSchema, true)
  const isEdited = text !== undefined && text !== stored
  const isPlain = typeof usual === 'string' && !/^(null|\[|\{)/.test(text ?? '')
  const json = isPlain ? undefined : asJson(text ?? '')
  // Text that is not JSON is sent as a string, so that the emulator's error describes the expected value.
  const typed = json === undefined ? text : json
  const change = (next: unknown, query = {}) =>
    ask('PATCH /settings', { body: { [key]: next } as never, query })
  const check = () => change(typed, { dry_run: 'true' })
  const issues = useVerdict(text, isEdited ? check : undefined) ?? []
  const save = async (next: unknown) => {
    if (await act(() => change(next), `${key} is changed.`)) setText(undefined)
  }
  return (
    <form
      class="value row"
      title={description}
      onSubmit={(event) => {
        event.preventDefault()
        if (isEdited && issues.length === 0) void save(typed)
      }}
    >
      <code class="grow wrap dim">{key}</code>
      {isChanged(setting) && <Tag tone="accent">changed</Tag>}
      {field.kind === 'boolean' ? (
        <Switch on={value === true} label={key} hideLabel onToggle={() => void save(value !== true)} />
      ) : field.kind === 'choice' ? (
        <Select
          aria-label={key}
          disabled={isLost.value}
          {...valuesOf(field.choices, value, (next) => void save(next))}
        />
      ) : (
        <input
          class="mono"
          aria-label={key}
          aria-invalid={issues.length > 0 || undefined}
          aria-describedby={issues.length > 0 ? id : undefined}
          inputMode={field.kind === 'number' ? 'numeric' : undefined}
          disabled={isLost.value}
          value={text ?? stored}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      {isEdited && (
        <Button text="Save" type="submit" disabled={issues.length > 0 && 'The value is not valid.'} />
      )}
      {isChanged(setting) && text === undefined && (
        <Button text="Restore default" onClick={() => void save(null)} />
      )}
      {issues.length > 0 && (
        <p class="field-error" id={id}>
          <Icon name="error" size={12} />
          {issues.map(({ pointer, detail }) => `${pointer} ${detail}`).join(' ')}
        </p>
      )}
    </form>
  )
}
