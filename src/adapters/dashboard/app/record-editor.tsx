import { useEffect, useMemo, useState } from 'preact/hooks'
import { EmulatorError } from '../../control/client/emulator-error.ts'
import { ask } from './api.ts'
import { download } from './browser.ts'
import { Code } from './code.tsx'
import { pretty, sizeOf } from './format.ts'
import { type EditorIssue, JsonEditor, jsonIssue } from './json-editor.tsx'
import { act, changed, isLost } from './live.ts'
import { useLive } from './loaded.ts'
import { Confirm } from './menu.tsx'
import { here, open } from './place.ts'
import { MissingFields, RecordForm } from './record-form.tsx'
import { fieldsOf } from './record-schema.ts'
import { logRows } from './requests.ts'
import { toast } from './toasts.ts'
import { Button, Detail, Note, Tabs, Tag } from './ui.tsx'

/** A record of any collection. */
export interface AnyRecord {
  readonly id: string
  readonly [field: string]: unknown
}

/** Texts that were not saved yet, by record: they stay when another view is opened. */
const drafts = new Map<string, { readonly text: string; readonly base: string }>()

/** Records of more characters are only read. */
const MAX_EDITED = 256_000

type Tab = 'form' | 'json' | 'history'

interface EditorProps {
  readonly collection: string
  /** Absent: a new one. */
  readonly record: AnyRecord | undefined
  /** Shows which fields a new one has. */
  readonly template: AnyRecord | undefined
  readonly onClose: () => void
}

export function RecordEditor({ collection, record, template, onClose }: EditorProps) {
  const key = `${collection}/${record?.id ?? 'new'}`
  const { data: fields } = useLive(() => fieldsOf(collection), [], collection)
  const stored = useMemo(() => pretty(record ?? blank(template)), [record, template])
  const [draft, setDraft] = useState(drafts.get(key) ?? { text: stored, base: stored })
  const [issues, setIssues] = useState<readonly EditorIssue[]>([])
  const [tab, setTab] = useState<Tab>('json')
  const [isDeleting, setDeleting] = useState(false)
  const isDirty = draft.text !== draft.base
  const isChanged = isDirty && draft.base !== stored
  // A record that nobody edits here follows what is stored.
  const text = isDirty ? draft.text : stored
  const edit = (next: string, base = isDirty ? draft.base : stored) => {
    setDraft({ text: next, base })
    setIssues([])
    if (next === base) drafts.delete(key)
    else drafts.set(key, { text: next, base })
  }
  const isReadOnly = text.length > MAX_EDITED
  const syntax = isReadOnly ? undefined : jsonIssue(text)
  const save = async () => {
    if (syntax !== undefined || isLost.value) return
    const from = here.value
    try {
      const body = JSON.parse(text) as AnyRecord
      const id = record?.id ?? String(body.id)
      if (record !== undefined && (await isChangedElsewhere(collection, id, draft.base))) return changed()
      await ask('PUT /state/{collection}/{id}', { params: { collection, id }, body })
      drafts.delete(key)
      setDraft({ text: '', base: '' })
      setIssues([])
      toast('ok', `${id} is saved.`)
      changed()
      // A new record is opened, unless the user has opened another view by now.
      if (record === undefined && here.value === from) open([collection, id])
    } catch (error) {
      if (!(error instanceof EmulatorError)) throw error
      setIssues(error.issues.length > 0 ? error.issues : [{ pointer: '', detail: error.detail }])
    }
  }
  useEffect(() => {
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
      <h2 class="mono">{record?.id ?? 'New record'}</h2>
      {isDirty && (
        <Tag tone="warn" icon="warn">
          unsaved
        </Tag>
      )}
      {record !== undefined && (
        <Button kind="danger" icon="trash" label="Delete the record" onClick={() => setDeleting(true)} />
      )}
    </>
  )
  return (
    <Detail label={`Record ${record?.id ?? 'new'}`} head={head} onClose={onClose}>
      <Tabs
        label="Ways to edit"
        tabs={[
          ['form', 'Form'],
          ['json', 'JSON'],
          ['history', 'History'],
        ]}
        value={tab}
        onChoose={setTab}
      />
      {isChanged && (
        <Note tone="warn" icon="warn">
          The record was changed while you edited it.{' '}
          <button type="button" class="link" onClick={() => edit(draft.text, stored)}>
            Keep mine
          </button>
          <button type="button" class="link" onClick={() => edit(stored, stored)}>
            Take theirs
          </button>
        </Note>
      )}
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
          kind="primary"
          disabled={
            syntax !== undefined
              ? 'The text is no JSON.'
              : isDirty || record === undefined
                ? undefined
                : 'Nothing was changed.'
          }
          onClick={() => void save()}
        >
          Save
        </Button>
        <Button disabled={!isDirty} onClick={() => edit(stored, stored)}>
          Discard changes
        </Button>
        <span class="push hint">
          <kbd>Ctrl S</kbd> saves
        </span>
      </p>
      {isDeleting && (
        <Confirm
          title={`Delete ${record?.id}?`}
          text="The record is deleted, and the future events about it."
          action="Delete"
          onDone={(yes) => {
            setDeleting(false)
            if (!yes || record === undefined) return
            onClose()
            void act(
              () => ask('DELETE /state/{collection}/{id}', { params: { collection, id: record.id } }),
              `${record.id} is deleted.`,
            )
          }}
        />
      )}
    </Detail>
  )
}

// What another editor or a request has written is not overwritten unseen: the note above the text asks what to keep.
async function isChangedElsewhere(collection: string, id: string, base: string): Promise<boolean> {
  const now = await ask('GET /state/{collection}/{id}', { params: { collection, id } })
  return pretty(now) !== base
}

// The same fields as another record, for a start.
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
        <Button icon="download" onClick={() => download(`${name.replaceAll('/', '-')}.json`, text)}>
          Download it
        </Button>
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
  return (
    <ul class="links">
      {rows.map(({ id, at, method, path }) => (
        <li key={id}>
          <a href={`#/${id.replace(/-\d+$/, '')}/requests/${id}`}>{id}</a> {at.slice(0, 19).replace('T', ' ')}{' '}
          {method} {path}
        </li>
      ))}
    </ul>
  )
}
