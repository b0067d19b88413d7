import { useEffect, useState } from 'preact/hooks'
import { ask } from './api.ts'
import { countOf } from './format.ts'
import { Icon } from './icon.tsx'
import { act, retryNow } from './live.ts'
import { Menu, MenuForm, NAME_FIELD } from './menu.tsx'
import { goTo, here, linkIn, linkTo, sandboxName } from './place.ts'
import { isOpen, useSandboxes } from './sandboxes.ts'
import { Button, Empty } from './ui.tsx'

/** Maximum number of sandboxes in the menu; the view has all of them. */
const MAX_LISTED = 10

/** Opens another sandbox. Typing its name shows the sandboxes with that name. */
export function SandboxSwitcher() {
  const { data = [], reload } = useSandboxes()
  const [text, setText] = useState('')
  const own = data.find(({ name }) => name === sandboxName.value)
  const others = data.filter(({ name }) => name !== sandboxName.value)
  const found = [...(own === undefined ? [] : [own]), ...others].filter(({ name }) => name.includes(text))
  return (
    <div class="sandboxes">
      <Menu
        label="Choose a sandbox"
        button={
          <>
            <Icon name="data" />
            <strong>{sandboxName.value}</strong>
            <span class="hint">{own !== undefined && isOpen(own) ? `seed ${own.seed}` : ''}</span>
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
    // Tests create sandboxes meanwhile, and no event tells it.
    onOpened()
    return () => onInput('')
  }, [])
  const openSandbox = (name: string) => {
    onDone()
    goTo(linkIn(name, here.value.view))
  }
  const field = { placeholder: 'w1', ...NAME_FIELD, onInput }
  return <MenuForm label="Find, open or create" action="Open" {...field} onSubmit={openSandbox} />
}

const text = (name: string) => `There is no sandbox ${name} yet. Its first request creates it.`

function NextSteps({ name }: { name: string }) {
  const make = () =>
    act(() => ask('POST /sandboxes', { body: { name } }), `${name} is created.`).then(retryNow)
  return (
    <>
      <Button onClick={() => void make()}>Create it now</Button>
      <Button onClick={() => goTo(linkIn('default', here.value.view))}>Open default</Button>
    </>
  )
}

/** Shown above a view for a sandbox that has not been used yet, or that was deleted. */
export function MissingBanner({ name }: { name: string }) {
  return (
    <div class="banner info" role="alert">
      <Icon name="info" />
      <p>{text(name)}</p>
      <NextSteps name={name} />
    </div>
  )
}

/** Like {@link MissingBanner}, instead of a view that would have no data. */
export function MissingSandbox({ name }: { name: string }) {
  return (
    <Empty icon="sandboxes" title={`No sandbox ${name}`} text={text(name)}>
      <p class="row-actions">
        <NextSteps name={name} />
        <a class="button" href={linkTo('sandboxes')}>
          All sandboxes
        </a>
      </p>
    </Empty>
  )
}
