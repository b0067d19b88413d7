import { useRef, useState } from 'preact/hooks'
import { ask } from './api.ts'
import { download } from './browser.ts'
import { countOf, dateTime, pretty } from './format.ts'
import { act, isLost } from './live.ts'
import { useLive } from './loaded.ts'
import { Confirm, Menu, MenuForm, NAME_FIELD } from './menu.tsx'
import { sandboxName } from './place.ts'
import { SnapshotCompare } from './snapshot-compare.tsx'
import { toast } from './toasts.ts'
import { Button } from './ui.tsx'

interface Question {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly run: () => Promise<unknown>
  readonly done: string
}

/** What is done to the sandbox as a whole: snapshots, import and export, reset. */
export function SandboxActions() {
  const { data } = useLive(() => ask('GET /snapshots'), [])
  const [question, setQuestion] = useState<Question | undefined>(undefined)
  const [isComparing, setComparing] = useState(false)
  const file = useRef<HTMLInputElement>(null)
  const off = isLost.value
  const snapshots = data?.data ?? []
  const restore = (name: string, saved: string) =>
    setQuestion({
      title: `Restore ${name}?`,
      text: `Everything goes back to ${saved === '' ? 'when it was saved' : dateTime(saved)}: records, clock, faults and the request log. What came after is lost.`,
      action: 'Restore',
      run: () => ask('POST /snapshots/{name}/restore', { params: { name } }),
      done: `${name} is restored.`,
    })
  const importFile = async (chosen: File | undefined) => {
    if (chosen === undefined) return
    try {
      const document = JSON.parse(await chosen.text()) as { collections?: Record<string, unknown[]> }
      const records = Object.values(document.collections ?? {}).reduce((sum, rows) => sum + rows.length, 0)
      setQuestion({
        title: `Import ${chosen.name}?`,
        text: `${countOf(records, 'record')} are added. A record with a known id replaces that record.`,
        action: 'Import',
        run: () => ask('POST /fixtures', { body: document as never }),
        done: `${chosen.name} is imported.`,
      })
    } catch {
      toast('error', `${chosen.name} is no JSON document.`)
    }
  }
  const exportState = () =>
    act(async () => {
      const { collections } = await ask('GET /state')
      download(`${sandboxName.value}-fixtures.json`, pretty({ collections }))
    })
  return (
    <>
      <Menu
        label="Snapshots"
        button="Snapshots"
        disabled={off}
        items={[
          ...snapshots.map(({ name, saved_at, records }) => ({
            label: `Restore ${name}`,
            hint: records === null ? 'cannot be read' : countOf(records, 'record'),
            run: () => restore(name, saved_at ?? ''),
          })),
          ...(snapshots.length === 0 ? [] : [{ label: 'Compare', run: () => setComparing(true) }]),
        ]}
        empty="No snapshot yet."
      >
        {(close) => <SaveSnapshot onDone={close} />}
      </Menu>
      <Menu
        label="Import or export"
        button="Import or export"
        disabled={off}
        items={[
          { label: 'Export the records', icon: 'download', run: () => void exportState() },
          { label: 'Import fixtures', icon: 'inbox', run: () => file.current?.click() },
        ]}
      />
      <input
        ref={file}
        type="file"
        accept="application/json"
        hidden
        onChange={(event) => void importFile(event.currentTarget.files?.[0])}
      />
      <Button
        kind="danger"
        disabled={off}
        onClick={() =>
          setQuestion({
            title: `Reset ${sandboxName.value}?`,
            text: 'The sandbox starts again from its starting data. Records, clock, faults and the request log are lost.',
            action: 'Reset',
            run: () => ask('POST /reset', { body: {} }),
            done: 'The sandbox has started again.',
          })
        }
      >
        Reset
      </Button>
      {isComparing && (
        <SnapshotCompare names={snapshots.map(({ name }) => name)} onClose={() => setComparing(false)} />
      )}
      {question !== undefined && (
        <Confirm
          {...question}
          onDone={(yes) => {
            setQuestion(undefined)
            if (yes) void act(question.run, question.done)
          }}
        />
      )}
    </>
  )
}

function SaveSnapshot({ onDone }: { onDone: () => void }) {
  const save = (name: string) => {
    onDone()
    void act(() => ask('POST /snapshots', { body: { name } }), `${name} is saved.`)
  }
  return <MenuForm label="Save as" action="Save" placeholder="before-test" {...NAME_FIELD} onSubmit={save} />
}
