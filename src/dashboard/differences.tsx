import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from './api.ts'
import { ChoiceField } from './fields.tsx'
import { asJson, countOf, pretty, shortPath, timeOfDay } from './format.ts'
import { useLive } from './loaded.tsx'
import { linkTo } from './place.ts'
import { type LogRow, logRows } from './requests.ts'
import { Button, Dialog, Note } from './ui.tsx'

/** What differs: `-` with the old value, `+` with the new one. */
type Lines = readonly (readonly ['+' | '-', string])[]

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null

const fieldsOf = (...given: readonly object[]) => [...new Set(given.flatMap((each) => Object.keys(each)))]

/**
 * The differences between two versions of one value. Fields inside fields are named by their path: `a/0/b`.
 * @param at the path of the value; empty for the whole value
 */
function differences(before: unknown, after: unknown, at = ''): Lines {
  if (pretty(before) === pretty(after)) return []
  if (isBranch(before) && isBranch(after) && Array.isArray(before) === Array.isArray(after)) {
    const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
    return fieldsOf(before, after).flatMap((field) =>
      differences(old.get(field), now.get(field), at === '' ? field : `${at}/${field}`),
    )
  }
  const line = (value: unknown) => (at === '' ? pretty(value) : `${at}: ${pretty(value)}`)
  const removed: Lines = before === undefined ? [] : [['-', line(before)]]
  return after === undefined ? removed : [...removed, ['+', line(after)]]
}

export function DiffLines({ lines }: { lines: Lines }) {
  return (
    <>
      {lines.map(([sign, line]) => (
        <pre key={sign + line} class={sign === '+' ? 'plus' : 'minus'}>
          {line}
        </pre>
      ))}
    </>
  )
}

/** Maximum number of differences that are shown; more are only counted. */
const MAX_DIFFERENCES = 200

/** The differences between two versions that the user chooses. */
function CompareDialog(props: {
  title: string
  /** The fields with which the user chooses. */
  children: ComponentChildren
  /** The names of the versions. */
  names: readonly [before: string, after: string]
  /** Loads the parts of a version, by name. */
  load: (name: string) => Promise<Readonly<Record<string, unknown>>>
  /** What differs: `record`. */
  noun: string
  linkOf: (part: string) => string
  onClose: () => void
}) {
  const { title, children, names, load, noun, linkOf, onClose } = props
  const { data, notice } = useLive(
    () => Promise.all([load(names[0]), load(names[1])]),
    ['transition', 'write', 'event'],
    names.join(' '),
  )
  const [before, after] = data ?? [{}, {}]
  const found = fieldsOf(before, after)
    .map((name) => ({ name, lines: differences(before[name], after[name]) }))
    .filter(({ lines }) => lines.length > 0)
  const hint = (
    <span class="hint grow">
      {countOf(found.length, noun)} differ{found.length === 1 ? 's' : ''}
      {found.length > MAX_DIFFERENCES && `, the first ${MAX_DIFFERENCES} are shown`}
    </span>
  )
  return (
    <Dialog title={title} hint={hint} onClose={onClose}>
      <div class="columns pad">{children}</div>
      {notice}
      {data !== undefined && found.length === 0 && <Note>{`No ${noun} differs.`}</Note>}
      <section class={found.length === 0 ? '' : 'diff'} tabIndex={0} aria-label="Differences">
        {found.slice(0, MAX_DIFFERENCES).map(({ name, lines }) => (
          <section key={name}>
            <h3>
              <a href={linkOf(name)} onClick={onClose}>
                {name}
              </a>{' '}
              {name in before ? (name in after ? 'differs' : 'removed') : 'added'}
            </h3>
            <DiffLines lines={lines} />
          </section>
        ))}
      </section>
    </Dialog>
  )
}

/** The present state, among the names of snapshots. No snapshot can have this name. */
const NOW = ''

/** The records of a snapshot, or of the present state, by `collection/id`. */
async function recordsOf(name: string) {
  const { collections } =
    name === NOW ? await ask('GET /state') : await ask('GET /snapshots/{name}', { params: { name } })
  return Object.fromEntries(
    Object.entries(collections as Record<string, readonly { readonly id: string }[]>).flatMap(
      ([collection, rows]) => rows.map((row) => [`${collection}/${row.id}`, row]),
    ),
  )
}

/** The differences between two snapshots, or between one and the current state. */
export function SnapshotCompare({ names, onClose }: { names: readonly string[]; onClose: () => void }) {
  const [from, setFrom] = useState(names.at(-1) ?? NOW)
  const [to, setTo] = useState(NOW)
  const choices = [...names.map((name) => [name, name] as const), [NOW, 'the current state'] as const]
  return (
    <CompareDialog
      title="Compare snapshots"
      names={[from, to]}
      load={recordsOf}
      noun="record"
      linkOf={(ref) => linkTo('data', ref.split('/'))}
      onClose={onClose}
    >
      <ChoiceField label="Before" value={from} choices={choices} onChoose={setFrom} />
      <ChoiceField label="After" value={to} choices={choices} onChoose={setTo} />
    </CompareDialog>
  )
}

/** The other requests of the log, newest first; those of the same operation come before the others. */
export function comparable(id: string): readonly LogRow[] {
  const { entries } = logRows.value
  const own = entries.find((row) => row.id === id)?.operation
  const rank = ({ operation }: LogRow) => Number(operation !== own)
  return entries.filter((row) => row.id !== id).sort((a, b) => rank(a) - rank(b))
}

const NOT_KEPT = 'none, or not kept'

/** What is compared of a request and its response. */
async function exchangeOf(request_id: string) {
  const trace = await ask('GET /explain/{request_id}', { params: { request_id } })
  const { method, path, query, headers, body, body_kept } = trace.request
  const request = { method, path, query, headers, body: body_kept ? body : NOT_KEPT }
  if (trace.response === null) return { request, response: { status: 'no response' } }
  const { status, headers: named, body: text } = trace.response
  const byName = Object.fromEntries(named.map(({ name, value }) => [name.toLowerCase(), value]))
  return {
    request,
    response: { status, headers: byName, body: text === null ? NOT_KEPT : (asJson(text) ?? text) },
  }
}

/** The differences between two requests, and between their responses. */
export function RequestCompare(props: {
  id: string
  other: string
  onChoose: (id: string) => void
  onClose: () => void
}) {
  const { id, other, onChoose, onClose } = props
  const choices = comparable(id).map((row) => {
    const { at, method, path, status } = row
    return [row.id, `${row.id} · ${timeOfDay(at)} · ${method} ${shortPath(path)} ${status}`] as const
  })
  return (
    <CompareDialog
      title={`Compare ${id} (−)`}
      names={[id, other]}
      load={exchangeOf}
      noun="part"
      linkOf={() => linkTo('requests', [other])}
      onClose={onClose}
    >
      <ChoiceField label="With (+)" value={other} choices={choices} onChoose={onChoose} />
    </CompareDialog>
  )
}

/** Shows the changes of another client in a record that is edited here, and asks which version to keep. */
export function RecordConflict(props: {
  /** The text of the record when the user began to edit it. */
  base: string
  mine: string
  /** Its text as it is stored now. */
  theirs: string
  onKeep: () => void
  onTake: () => void
}) {
  const [base, theirs, mine] = [asJson(props.base), asJson(props.theirs), asJson(props.mine)]
  const isSame = isBranch(mine) && differences(theirs, mine).length === 0
  return (
    <section role="alert">
      <Note tone="warn">
        The record was changed while you edited it. Your version was not saved: choose the version to keep.
      </Note>
      <div class="diff">
        <h3>Changed by others</h3>
        <DiffLines lines={differences(base, theirs)} />
        <h3>Changed by you</h3>
        {isBranch(mine) ? (
          <DiffLines lines={differences(base, mine)} />
        ) : (
          <p class="pad hint">Your text is not valid JSON yet.</p>
        )}
      </div>
      <p class="row-actions">
        <Button text={isSame ? 'Continue' : 'Keep mine'} onClick={props.onKeep} />
        <Button text="Take theirs" onClick={props.onTake} />
      </p>
    </section>
  )
}
