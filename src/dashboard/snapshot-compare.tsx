import { useState } from 'preact/hooks'
import { ask } from './api.ts'
import { CompareDialog, type RecordsByCollection, recordDifferences } from './differences.tsx'
import { useLive } from './loaded.tsx'
import { linkTo } from './place.ts'

/** The present state, among the names of snapshots. No snapshot can have this name. */
const NOW = ''

async function load(name: string): Promise<RecordsByCollection> {
  const { collections } =
    name === NOW ? await ask('GET /state') : await ask('GET /snapshots/{name}', { params: { name } })
  return collections as unknown as RecordsByCollection
}

/** The differences between two snapshots, or between one and the current state. */
export function SnapshotCompare({ names, onClose }: { names: readonly string[]; onClose: () => void }) {
  const [from, setFrom] = useState(names.at(-1) ?? NOW)
  const [to, setTo] = useState(NOW)
  const loaded = useLive(
    async () => recordDifferences(await load(from), await load(to)),
    ['transition', 'write', 'event'],
    `${from} ${to}`,
  )
  const choices = [...names.map((name) => [name, name] as const), [NOW, 'the current state'] as const]
  const fields = [
    { label: 'Before', value: from, choices, onChoose: setFrom },
    { label: 'After', value: to, choices, onChoose: setTo },
  ]
  const linkOf = (ref: string) => linkTo('data', ref.split('/'))
  const props = { title: 'Compare snapshots', fields, loaded, noun: 'record', linkOf, onClose }
  return <CompareDialog {...props} />
}
