import { ask, type Output } from './api.ts'
import { search } from './dialogs.tsx'
import { Icon } from './icon.tsx'
import { act, retryNow } from './live.ts'
import { sharedLive } from './loaded.tsx'
import { goTo, here, linkIn, sandboxName } from './place.ts'
import { Button, Empty } from './ui.tsx'

export type SandboxRow = Output<'GET /sandboxes'>['data'][number]

/** Whether a sandbox is open, not only on the disk. */
export const isOpenSandbox = (row: SandboxRow) => row.state === 'open'

const rankOf = (row: SandboxRow) => (row.name === 'default' ? 0 : isOpenSandbox(row) ? 1 : 2)

/** Every sandbox: the default one, then the open ones with the newest first, then those that are only on the disk. */
export const useSandboxes = sharedLive(async (): Promise<readonly SandboxRow[]> => {
  const { data } = await ask('GET /sandboxes')
  return data.toReversed().sort((a, b) => rankOf(a) - rankOf(b))
}, ['sandbox'])

/** Opens the search for another sandbox. */
export function SandboxSwitcher() {
  const { data } = useSandboxes()
  const own = data?.find(({ name }) => name === sandboxName.value)
  const find = () => search('sandbox ')
  return (
    <div class="sandboxes">
      <button type="button" class="button" title="Find, open or create a sandbox" onClick={find}>
        <Icon name="data" size={14} />
        <strong class="cut">{sandboxName.value}</strong>
        <span class="hint push">{own !== undefined && isOpenSandbox(own) ? `seed ${own.seed}` : ''}</span>
        <Icon name="down" size={14} />
      </button>
    </div>
  )
}

/** Says that a sandbox has not been used yet, or was deleted: above a view, or instead of a view that would have no data. */
export function MissingSandbox({ name, isWhole }: { name: string; isWhole: boolean }) {
  const make = () =>
    act(() => ask('POST /sandboxes', { body: { name } }), `${name} is created.`).then(() => retryNow())
  const text = `There is no sandbox ${name} yet. Its first request creates it.`
  const steps = (
    <>
      <Button text="Create it now" onClick={() => void make()} />
      <Button text="Open default" onClick={() => goTo(linkIn('default', here.value.view))} />
    </>
  )
  if (isWhole)
    return (
      <Empty icon="sandboxes" title={`No sandbox ${name}`} text={text}>
        {steps}
      </Empty>
    )
  return (
    <div class="banner row info" role="alert">
      <Icon name="info" />
      <p>{text}</p>
      {steps}
    </div>
  )
}
