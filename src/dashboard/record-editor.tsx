import type { JSX } from 'preact'
import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { EmulatorError } from '../client/emulator-error.ts'
import { ask, callTagged } from './api.ts'
import { download } from './browser.ts'
import { Code } from './code.tsx'
import { confirm } from './dialogs.tsx'
import { RecordConflict } from './differences.tsx'
import { Field, Select, valuesOf } from './fields.tsx'
import { dateTime, pretty, shortId, sizeOf } from './format.ts'
import { type EditorIssue, issuesOf, JsonEditor, jsonIssue } from './json-editor.tsx'
import { changed, isLost } from './live.ts'
import { useLive } from './loaded.tsx'
import { here, linkIn, linkTo, open } from './place.ts'
import { type FieldSchema, fieldsOf, initialValue, MAX_EDITED, recordSchema } from './record-schema.ts'
import { referencesIn } from './references.ts'
import { logRows } from './requests.ts'
import { toast } from './toasts.ts'
import { Button, Detail, Links, Note, Problem, Tabs, Tag } from './ui.tsx'

/** A record of any collection. */
export interface AnyRecord {
  readonly id: string
  readonly [field: string]: unknown
}

/** A record as it was loaded. */
interface Version {
  readonly text: string
  /** Undefined for a new record. */
  readonly etag: string | undefined
}

/** Unsaved texts by record, with the version that was edited. They stay when another view is opened. */
const drafts = new Map<string, { readonly text: string; readonly base: Version }>()

type Tab = 'form' | 'json' | 'history'

interface EditorProps {
  readonly collection: string
  /** Undefined for a new record. */
  readonly record: AnyRecord | undefined
  /** Another record, whose fields a new one gets. */
  readonly template: AnyRecord | undefined
  /** The names of all collections, for links to other records. */
  readonly collections: readonly string[]
}

export function RecordEditor(props: EditorProps) {
  const { collection, record } = props
  const { data, notice } = useLive(
    async () => {
      if (record === undefined) return { text: pretty(blank(props.template)), etag: undefined }
      const params = { collection, id: record.id }
      const { output, etag } = await callTagged('GET /state/{collection}/{id}', { params })
      return { text: pretty(output), etag }
    },
    record === undefined ? [] : ['transition', 'write', 'event'],
    record?.id,
  )
  return data === undefined ? notice : <Editor {...props} stored={data} />
}

function Editor(props: EditorProps & { readonly stored: Version }) {
  const { collection, record, stored: loaded } = props
  const key = `${collection}/${record?.id ?? 'new'}`
  const { data: schema } = useLive(() => recordSchema(collection), [], collection)
  const fields = useMemo(() => schema && fieldsOf(schema), [schema])
  const [saved, setSaved] = useState<{ readonly version: Version; readonly after: Version }>()
  // The version saved here is the stored one, until the record is loaded again.
  const stored = saved?.after === loaded ? saved.version : loaded
  const [draft, setDraft] = useState(drafts.get(key) ?? { text: stored.text, base: stored })
  const [issues, setIssues] = useState<readonly EditorIssue[]>([])
  const [tab, setTab] = useState<Tab>('form')
  const isDirty = draft.text !== draft.base.text
  // A record without edits here always shows the stored version.
  const base = isDirty ? draft.base : stored
  const text = isDirty ? draft.text : stored.text
  const edit = (next: string, from = base) => {
    setDraft({ text: next, base: from })
    setIssues([])
    if (next === from.text) drafts.delete(key)
    else drafts.set(key, { text: next, base: from })
  }
  const isReadOnly = text.length > MAX_EDITED
  const syntax = isReadOnly ? undefined : jsonIssue(text)
  const save = async () => {
    if (syntax !== undefined || isLost.value) return
    const from = here.value
    try {
      const body = JSON.parse(text) as AnyRecord
      const id = record?.id ?? String(body.id)
      const { output, etag } = await callTagged('PUT /state/{collection}/{id}', {
        params: { collection, id },
        body,
        ifMatch: base.etag,
      })
      drafts.delete(key)
      const version = { text: pretty(output), etag }
      setSaved({ version, after: loaded })
      setDraft({ text: version.text, base: version })
      setIssues([])
      toast('ok', `${id} is saved.`)
      changed()
      // A new record is opened, unless the user has opened another view by now.
      if (record === undefined && here.value === from) open([collection, id])
    } catch (error) {
      // Another client has changed the record: its version is loaded and shown next to the draft.
      if (error instanceof EmulatorError && error.status === 412) return changed()
      setIssues(issuesOf(error))
    }
  }
  // An effect that runs after the next frame would still save the text before the last key.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      void save()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  })
  const head = (
    <>
      {isDirty && <Tag tone="warn">unsaved</Tag>}
      {record !== undefined && (
        <Button
          kind="danger"
          icon="trash"
          label="Delete the record"
          onClick={() => remove(collection, record.id)}
        />
      )}
    </>
  )
  return (
    <Detail
      label={`Record ${record?.id ?? 'new'}`}
      title={<code>{record?.id ?? 'New record'}</code>}
      head={head}
    >
      <Tabs
        label="Ways to edit"
        options={{ form: 'Form', json: 'JSON', history: 'History' }}
        value={tab}
        onChoose={setTab}
      />
      {isDirty && base.etag !== stored.etag && (
        <RecordConflict
          base={base.text}
          mine={text}
          theirs={stored.text}
          onKeep={() => edit(text, stored)}
          onTake={() => edit(stored.text, stored)}
        />
      )}
      {record !== undefined && <References record={record} collections={props.collections} />}
      <div role="tabpanel" aria-label={tab}>
        {tab !== 'history' && isReadOnly && <Large name={key} text={text} />}
        {tab === 'json' && !isReadOnly && (
          <JsonEditor
            label="Record as JSON"
            value={text}
            issues={syntax === undefined ? issues : [syntax]}
            onChange={edit}
          />
        )}
        {tab === 'form' && !isReadOnly && (
          <RecordForm
            text={text}
            isValid={syntax === undefined}
            issues={issues}
            fields={fields}
            onChange={edit}
          />
        )}
        {tab !== 'history' && !isReadOnly && (
          <MissingFields text={text} isValid={syntax === undefined} fields={fields} onChange={edit} />
        )}
        {tab === 'history' && <History name={key} />}
      </div>
      <p class="row-actions">
        <Button
          text="Save"
          kind="primary"
          disabled={
            syntax !== undefined
              ? 'The text is not valid JSON.'
              : isDirty || record === undefined
                ? undefined
                : 'Nothing was changed.'
          }
          onClick={() => void save()}
        />
        <Button text="Discard changes" disabled={!isDirty} onClick={() => edit(stored.text, stored)} />
        <span class="push hint wide-only">
          <kbd>Ctrl S</kbd> saves
        </span>
      </p>
    </Detail>
  )
}

function remove(collection: string, id: string): void {
  const run = async () => {
    open([collection])
    await ask('DELETE /state/{collection}/{id}', { params: { collection, id } })
  }
  confirm({
    title: `Delete ${id}?`,
    text: 'The record and its future events are deleted.',
    action: 'Delete',
    run,
    done: `${id} is deleted.`,
  })
}

/** Links that are shown of one record. */
const MAX_LINKS = 20

/** Links to the records that a record names. */
function References({ record, collections }: { record: AnyRecord; collections: readonly string[] }) {
  const references = useMemo(() => referencesIn(record, collections), [record])
  if (references.length === 0) return null
  return (
    <p class="row-actions">
      <span class="hint">Refers to</span>
      {references.slice(0, MAX_LINKS).map(({ collection, id }) => (
        <a
          key={`${collection}/${id}`}
          class="mono"
          href={linkTo('data', [collection, id])}
          title={`${collection}/${id}`}
        >
          {shortId(id)}
        </a>
      ))}
    </p>
  )
}

// A new record starts with the fields and values of another one.
function blank(template: AnyRecord | undefined): object {
  return { ...template, id: 'new-1' }
}

/** A record that is too large for the editor: its beginning, and a file with all of it. */
function Large({ name, text }: { name: string; text: string }) {
  return (
    <>
      <Note>
        The record has {sizeOf(text.length)}, which is too much for the editor. Its beginning is shown; PUT
        /__emulator/state/{name} changes it.
      </Note>
      <p class="row-actions">
        <Button
          text="Download it"
          icon="download"
          onClick={() => download(`${name.replaceAll('/', '-')}.json`, text)}
        />
      </p>
      <Code label="Beginning of the record" text={text.slice(0, SHOWN)} />
    </>
  )
}

/** Characters that are shown of a large record. */
const SHOWN = 20_000

function History({ name }: { name: string }) {
  const rows = logRows.value.entries.filter(({ changed: refs }) => refs.includes(name)).slice(0, 50)
  if (rows.length === 0) return <Note>No request in the log has changed this record.</Note>
  const items = rows.map(({ id, at, method, path }) => {
    const link = linkIn(id.replace(/-\d+$/, ''), 'requests', [id])
    return [link, id, `${dateTime(at)} ${method} ${path}`] as const
  })
  return <Links items={items} />
}

interface FormProps {
  readonly text: string
  readonly isValid: boolean
  readonly issues: readonly EditorIssue[]
  /** Undefined until they are loaded. */
  readonly fields: ReadonlyMap<string, FieldSchema> | undefined
  readonly onChange: (text: string) => void
}

/** The fields of a record, each with the control that fits its schema. */
function RecordForm({ text, isValid, issues, fields, onChange }: FormProps) {
  if (!isValid) return <Note tone="warn">The text is not valid JSON. Correct it in the JSON tab first.</Note>
  const record = JSON.parse(text) as Record<string, unknown>
  const others = issues.filter(({ pointer }) => !Object.hasOwn(record, pointer.split('/')[1] ?? ''))
  return (
    <div class="fields">
      {others.length > 0 && (
        <Problem text={others.map(({ pointer, detail }) => `${pointer} ${detail}`.trim()).join('. ')} />
      )}
      {Object.entries(record).map(([name, value]) => {
        const error = issues.find(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`))
        return (
          <Field key={name} label={name} error={error && `${error.pointer} ${error.detail}`}>
            {(id, describedBy) => (
              <Control
                id={id}
                describedBy={describedBy}
                value={value}
                field={fields?.get(name)}
                onSet={(next) => onChange(pretty({ ...record, [name]: next }))}
              />
            )}
          </Field>
        )
      })}
    </div>
  )
}

interface ControlProps {
  readonly id: string
  readonly describedBy: string | undefined
  readonly value: unknown
  readonly field: FieldSchema | undefined
  readonly onSet: (value: unknown) => void
}

function Control({ id, describedBy, value, field, onSet }: ControlProps): JSX.Element {
  const common = {
    id,
    'aria-describedby': describedBy,
    'aria-invalid': describedBy !== undefined || undefined,
  }
  // The present value can always be chosen, even if the schema does not allow it.
  if (field?.kind === 'choice')
    return <Select {...common} {...valuesOf(new Set([...field.choices, value]), value, onSet)} />
  if (typeof value === 'boolean')
    return (
      <input
        {...common}
        type="checkbox"
        checked={value}
        onChange={(event) => onSet(event.currentTarget.checked)}
      />
    )
  const isNumber = typeof value === 'number' || (value === null && field?.kind === 'number')
  if (isNumber || typeof value === 'string' || (value === null && field?.kind === 'text'))
    return (
      <input
        {...common}
        {...(isNumber && { type: 'number', step: 'any' })}
        value={value ?? ''}
        placeholder={value === null && !isNumber ? 'null' : ''}
        onInput={({ currentTarget: { value: text } }) => {
          const isNull = text === '' && field?.isNullable === true && (isNumber || value !== '')
          onSet(isNull ? null : isNumber ? Number(text) : text)
        }}
      />
    )
  return (
    <input {...common} class="mono" readOnly value={JSON.stringify(value)} title="Edit it in the JSON tab." />
  )
}

/** The fields that a record can have but does not: a click adds one. */
function MissingFields({ text, isValid, fields, onChange }: Omit<FormProps, 'issues'>) {
  if (!isValid || fields === undefined) return null
  const record: unknown = JSON.parse(text)
  if (typeof record !== 'object' || record === null) return null
  const missing = [...fields].filter(([name]) => !Object.hasOwn(record, name))
  if (missing.length === 0) return null
  return (
    <p class="row-actions" role="group" aria-label="Fields that are not set">
      <span class="hint">Not set:</span>
      {missing.map(([name, field]) => (
        <Button
          text={field.isRequired ? `${name}, required` : name}
          key={name}
          icon="plus"
          onClick={() => onChange(pretty({ ...record, [name]: initialValue(field) }))}
        />
      ))}
    </p>
  )
}
