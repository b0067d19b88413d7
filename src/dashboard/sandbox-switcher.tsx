import { useEffect, useState } from 'preact/hooks'
import { ask, type Output } from './api.ts'
import { countOf } from './format.ts'
import { Icon } from './icon.tsx'
import { act, retryNow } from './live.ts'
import { sharedLive } from './loaded.tsx'
import { Menu, MenuForm, NAME_FIELD } from './menu.tsx'
import { goTo, here, linkIn, linkTo, sandboxName } from './place.ts'
import { Button, Empty } from './ui.tsx'

export type SandboxRow = Output<'GET /sandboxes'>['data'][number]

/** Whether a sandbox is open, not only on the disk. */
export const isOpenSandbox = (row: SandboxRow): row is Extract<SandboxRow, { readonly state: 'open' }> =>
  row.state === 'open'

const rankOf = (row: SandboxRow) => (row.name === 'default' ? 0 : isOpenSandbox(row) ? 1 : 2)

/** Every sandbox: the default one, then the open ones with the newest first, then those that are only on the disk. */
export const useSandboxes = sharedLive(async (): Promise<readonly SandboxRow[]> => {
  const { data } = await ask('GET /sandboxes')
  return data.toReversed().sort((a, b) => rankOf(a) - rankOf(b))
}, ['sandbox'])

/** Maximum number of sandboxes in the menu; the view has all of them. */
const MAX_LISTED = 10

/** Opens another sandbox. Typing its name shows the sandboxes with that name. */
export function SandboxSwitcher() {
  const { data = [], reload } = useSandboxes()
  const [text, setText] = useState('')
  const own = data.find(({ name }) => name === sandboxName.value)
  const found = [...new Set([own ?? [], data].flat())].filter(({ name }) => name.includes(text))
  return (
    <div class="sandboxes">
      <Menu
        label="Choose a sandbox"
        button={
          <>
            <Icon name="data" size={14} />
            <strong class="cut">{sandboxName.value}</strong>
            <span class="hint push">{own !== undefined && isOpenSandbox(own) ? `seed ${own.seed}` : ''}</span>
          </>
        }
        items={[
          ...found.slice(0, MAX_LISTED).map(({ name }) => ({
            label: name,
            hint: name === sandboxName.value ? 'open' : undefined,
            run: () => goTo(linkIn(name, here.value.view)),
          })),
          {
            label: `All ${countOf(data.length, 'sandbox', 'sandboxes')}`,
            icon: 'requests',
            run: () => goTo(linkTo('sandboxes', [], { filter: text })),
          },
        ]}
      >
        {(close) => <Chooser onInput={setText} onOpened={reload} onDone={close} />}
      </Menu>
    </div>
  )
}

function Chooser(props: { onInput: (text: string) => void; onOpened: () => void; onDone: () => void }) {
  const { onInput, onOpened, onDone } = props
  useEffect(() => {
    // No event tells that a test has created a sandbox.
    onOpened()
    return () => onInput('')
  }, [])
  const onSubmit = (name: string) => {
    onDone()
    goTo(linkIn(name, here.value.view))
  }
  const field = { placeholder: 'w1', ...NAME_FIELD, onInput, onSubmit }
  return <MenuForm label="Find, open or create" action="Open" {...field} />
}

/** Says that a sandbox has not been used yet, or was deleted: above a view, or instead of a view that would have no data. */
export function MissingSandbox({ name, isWhole }: { name: string; isWhole: boolean }) {
  const make = () =>
    act(() => ask('POST /sandboxes', { body: { name } }), `${name} is created.`).then(retryNow)
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
