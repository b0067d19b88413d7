import { useRef, useState } from 'preact/hooks'
import { ask } from './api.ts'
import { download } from './browser.ts'
import { confirm } from './dialogs.tsx'
import { SnapshotCompare } from './differences.tsx'
import { countOf, dateTime, pretty } from './format.ts'
import { JsonDialog } from './json-editor.tsx'
import { act, isLost } from './live.ts'
import { useLive } from './loaded.tsx'
import { Menu } from './menu.tsx'
import { sandboxName } from './place.ts'
import { Button } from './ui.tsx'

export function restoreSnapshot(name: string, saved: string | null): void {
  confirm({
    title: `Restore ${name}?`,
    text: `Everything goes back to ${saved === null ? 'when it was saved' : dateTime(saved)}: records, clock, faults and the request log. Later changes are lost.`,
    action: 'Restore',
    run: () => ask('POST /snapshots/{name}/restore', { params: { name } }),
    done: `${name} is restored.`,
  })
}

export function resetSandbox(): void {
  confirm({
    title: `Reset ${sandboxName.value}?`,
    text: 'The sandbox starts again from its starting data. Records, clock, faults and the request log are lost.',
    action: 'Reset',
    run: () => ask('POST /reset', { body: {} }),
    done: 'The sandbox has started again.',
  })
}

export function exportRecords(): void {
  void act(async () => {
    const { collections } = await ask('GET /state')
    download(`${sandboxName.value}-fixtures.json`, pretty({ collections }))
  })
}

/** Actions on the whole sandbox: snapshots, import and export, reset. */
export function SandboxActions() {
  const { data } = useLive(() => ask('GET /snapshots'), [])
  const [isComparing, setComparing] = useState(false)
  const [isWriting, setWriting] = useState(false)
  const file = useRef<HTMLInputElement>(null)
  const off = isLost.value
  const snapshots = data?.data ?? []
  const importFile = (chosen: File | undefined) =>
    chosen &&
    confirm({
      title: `Import ${chosen.name}?`,
      text: 'Its records are added. A record with a known id replaces that record. If one is not valid, none is added.',
      action: 'Import',
      run: async () => ask('POST /fixtures', { body: JSON.parse(await chosen.text()) }),
      done: `${chosen.name} is imported.`,
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
            run: () => restoreSnapshot(name, saved_at),
          })),
          ...(snapshots.length === 0 ? [] : [{ label: 'Compare', run: () => setComparing(true) }]),
        ]}
        empty="No snapshot yet."
        form={{
          label: 'Save as',
          action: 'Save',
          field: { placeholder: 'before-test', pattern: '[a-z0-9][a-z0-9\\-]*', maxLength: 63 },
          onSubmit: (name) => void act(() => ask('POST /snapshots', { body: { name } }), `${name} is saved.`),
        }}
      />
      <Menu
        label="Import or export"
        button="Import or export"
        disabled={off}
        items={[
          { label: 'Export the records', icon: 'download', run: exportRecords },
          { label: 'Import a fixtures file', icon: 'inbox', run: () => file.current?.click() },
          { label: 'Write fixtures', icon: 'plus', run: () => setWriting(true) },
        ]}
      />
      <input
        ref={file}
        type="file"
        accept="application/json"
        hidden
        onChange={(event) => importFile(event.currentTarget.files?.[0])}
      />
      <Button text="Reset" kind="danger" disabled={off} onClick={resetSandbox} />
      {isComparing && (
        <SnapshotCompare names={snapshots.map(({ name }) => name)} onClose={() => setComparing(false)} />
      )}
      {isWriting && (
        <JsonDialog
          title="Import fixtures"
          text="The records are added. A record with a known id replaces that record. If one record is not valid, none is added."
          value={pretty({ collections: {} })}
          action="Import"
          done="The fixtures are imported."
          onSubmit={(value) => ask('POST /fixtures', { body: value as never })}
          onClose={() => setWriting(false)}
        />
      )}
    </>
  )
}
