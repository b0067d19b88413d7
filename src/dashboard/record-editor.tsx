import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { EmulatorError } from '../control-client/emulator-error.ts'
import { isObject } from '../core/json.ts'
import { ask, callTagged } from './api.ts'
import { download } from './browser.ts'
import { Code } from './code.tsx'
import { confirm } from './dialogs.tsx'
import { RecordConflict } from './differences.tsx'
import { Field, type FieldAttributes, Select, valuesOf } from './fields.tsx'
import { asJson, dateTime, pretty, shortId, sizeOf } from './format.ts'
import { type EditorIssue, issuesOf, JsonEditor, jsonIssue } from './json-editor.tsx'
import { changed, isLost } from './live.ts'
import { useLive } from './loaded.tsx'
import { here, linkIn, linkTo, open } from './place.ts'
import { type FieldSchema, fieldsOf, initialValue, type JsonSchema } from './record-schema.ts'
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

const TABS = { form: 'Form', json: 'JSON', history: 'History' }

/** Maximum characters of a document in the editor. A longer one can only be read, or sent unchanged. */
const MAX_EDITED = 256_000

const NOT_LOADED: Version = { text: '', etag: undefined }

export function RecordEditor(props: {
  collection: string
  /** Undefined for a new record. */
  record: AnyRecord | undefined
  /** Another record, whose fields a new one gets. */
  template: AnyRecord | undefined
  /** The names of all collections, for links to other records. */
  collections: readonly string[]
}) {
  const { collection, record } = props
  const key = `${collection}/${record?.id ?? 'new'}`
  const loaded = useLive<Version>(
    async () => {
      if (record === undefined) return { text: pretty({ ...props.template, id: 'new-1' }), etag: undefined }
      const params = { collection, id: record.id }
      const { output, etag } = await callTagged('GET /state/{collection}/{id}', { params })
      return { text: pretty(output), etag }
    },
    record === undefined ? [] : ['transition', 'write', 'event'],
    record?.id,
  )
  const { data: stored = NOT_LOADED } = loaded
  const { data: fields } = useLive(
    async () => {
      const { schema } = await ask('GET /collections/{collection}', { params: { collection } })
      return fieldsOf(schema as JsonSchema)
    },
    [],
    collection,
  )
  const [draft, setDraft] = useState(drafts.get(key))
  const [issues, setIssues] = useState<readonly EditorIssue[]>([])
  const [tab, setTab] = useState<keyof typeof TABS>('form')
  // A record without edits here always shows the stored version.
  const { text, base } = draft ?? { text: stored.text, base: stored }
  const edit = (next: string, from = base) => {
    if (next === from.text) drafts.delete(key)
    else drafts.set(key, { text: next, base: from })
    setDraft(drafts.get(key))
    setIssues([])
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
      const version = { text: pretty(output), etag }
      loaded.replace(version)
      edit(version.text, version)
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
  if (stored === NOT_LOADED) return loaded.notice
  const value = isReadOnly ? undefined : asJson(text)
  const form = {
    record: isObject(value) ? value : undefined,
    fields,
    onSet: (name: string, next: unknown) => edit(pretty({ ...Object(value), [name]: next })),
  }
  const unchanged = draft || record === undefined ? undefined : 'Nothing was changed.'
  const head = (
    <>
      {draft && <Tag tone="warn">unsaved</Tag>}
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
      <Tabs label="Ways to edit" options={TABS} value={tab} onChoose={setTab} />
      {draft && base.etag !== stored.etag && (
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
        {tab === 'history' ? (
          <History name={key} />
        ) : isReadOnly ? (
          <Large name={key} text={text} />
        ) : (
          <>
            {tab === 'json' ? (
              <JsonEditor
                label="Record as JSON"
                value={text}
                issues={syntax === undefined ? issues : [syntax]}
                onChange={edit}
              />
            ) : (
              <RecordForm {...form} issues={issues} />
            )}
            <MissingFields {...form} />
          </>
        )}
      </div>
      <p class="row-actions">
        <Button
          text="Save"
          kind="primary"
          disabled={syntax ? 'The text is not valid JSON.' : unchanged}
          onClick={() => void save()}
        />
        <Button text="Discard changes" disabled={!draft} onClick={() => edit(stored.text, stored)} />
        <span class="push hint wide-only">
          <kbd>Ctrl S</kbd> saves
        </span>
      </p>
    </Detail>
  )
}

function remove(collection: string, id: string): void {
  confirm({
    title: `Delete ${id}?`,
    text: 'The record and its future events are deleted.',
    action: 'Delete',
    run: () => {
      open([collection])
      return ask('DELETE /state/{collection}/{id}', { params: { collection, id } })
    },
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
      {references.slice(0, MAX_LINKS).map(({ collection, id }) => {
        const name = `${collection}/${id}`
        return (
          <a key={name} class="mono" href={linkTo('data', [collection, id])} title={name}>
            {shortId(id)}
          </a>
        )
      })}
    </p>
  )
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
  /** Undefined for a text that is no JSON object. */
  readonly record: Readonly<Record<string, unknown>> | undefined
  /** Undefined until they are loaded. */
  readonly fields: ReadonlyMap<string, FieldSchema> | undefined
  readonly onSet: (name: string, value: unknown) => void
}

/** The fields of a record, each with the control that fits its schema. */
function RecordForm(props: FormProps & { issues: readonly EditorIssue[] }) {
  const { record, fields, onSet, issues } = props
  if (record === undefined)
    return <Note tone="warn">The text is not valid JSON. Correct it in the JSON tab first.</Note>
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
            {(attributes) => (
              <Control
                attributes={attributes}
                value={value}
                field={fields?.get(name)}
                onSet={(next) => onSet(name, next)}
              />
            )}
          </Field>
        )
      })}
    </div>
  )
}

function Control(props: {
  attributes: FieldAttributes
  value: unknown
  field: FieldSchema | undefined
  onSet: (value: unknown) => void
}) {
  const { attributes, value, field, onSet } = props
  // The present value can always be chosen, even if the schema does not allow it.
  if (field?.kind === 'choice')
    return <Select {...attributes} {...valuesOf(new Set([...field.choices, value]), value, onSet)} />
  if (typeof value === 'boolean')
    return (
      <input
        {...attributes}
        type="checkbox"
        checked={value}
        onChange={(event) => onSet(event.currentTarget.checked)}
      />
    )
  const isNumber = typeof value === 'number' || (value === null && field?.kind === 'number')
  if (isNumber || typeof value === 'string' || (value === null && field?.kind === 'text'))
    return (
      <input
        {...attributes}
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
    <input
      {...attributes}
      class="mono"
      readOnly
      value={JSON.stringify(value)}
      title="Edit it in the JSON tab."
    />
  )
}

/** The fields that a record can have but does not: a click adds one. */
function MissingFields({ record, fields, onSet }: FormProps) {
  if (record === undefined || fields === undefined) return null
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
          onClick={() => onSet(name, initialValue(field))}
        />
      ))}
    </p>
  )
}
