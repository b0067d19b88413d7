import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ask } from './api.ts'
import { DiffLines, type RecordsByCollection, recordDifferences } from './differences.tsx'
import { ChoiceField } from './fields.tsx'
import { countOf } from './format.ts'
import { useLive } from './loaded.ts'
import { linkTo } from './place.ts'
import { Button, Note, Problem, Skeleton } from './ui.tsx'

/** The present state, among the names of snapshots. No snapshot can have this name. */
const NOW = ''

async function load(name: string): Promise<RecordsByCollection> {
  const { collections } =
    name === NOW ? await ask('GET /state') : await ask('GET /snapshots/{name}', { params: { name } })
  return collections as unknown as RecordsByCollection
}

/** Maximum records that are shown; more are only counted. */
const MAX_DIFFERENCES = 200

/** The differences between two snapshots, or between one and the current state. */
export function SnapshotCompare({ names, onClose }: { names: readonly string[]; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const [from, setFrom] = useState(names.at(-1) ?? NOW)
  const [to, setTo] = useState(NOW)
  const { data, error, reload } = useLive(
    () => Promise.all([load(from), load(to)]),
    ['transition', 'write', 'event'],
    `${from} ${to}`,
  )
  const found = useMemo(() => (data === undefined ? [] : recordDifferences(...data)), [data])
  const choices = [...names.map((name) => [name, name] as const), [NOW, 'the current state'] as const]
  return (
    <dialog ref={dialog} class="dialog wide" aria-label="Compare snapshots" onClose={onClose}>
      <h2>Compare snapshots</h2>
      <div class="compare-choice">
        <ChoiceField label="Before" value={from} choices={choices} onChoose={setFrom} />
        <ChoiceField label="After" value={to} choices={choices} onChoose={setTo} />
      </div>
      {error !== undefined && <Problem text={error} onRetry={reload} />}
      {data === undefined && error === undefined && <Skeleton />}
      {data !== undefined && found.length === 0 && <Note>No record differs.</Note>}
      <section class="diff" tabIndex={0} aria-label="Differences">
        {found.slice(0, MAX_DIFFERENCES).map(({ ref, what, lines }) => (
          <section key={ref}>
            <h3>
              <a href={linkTo('data', ref.split('/'))} onClick={onClose}>
                {ref}
              </a>{' '}
              {what}
            </h3>
            <DiffLines lines={lines} />
          </section>
        ))}
      </section>
      <div class="actions">
        <span class="hint">
          {countOf(found.length, 'record')} differ{found.length === 1 ? 's' : ''}
          {found.length > MAX_DIFFERENCES && `, the first ${MAX_DIFFERENCES} are shown`}
        </span>
        <Button onClick={onClose}>Close</Button>
      </div>
    </dialog>
  )
}
