import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { groupBy } from '../core/conduct/observed.ts'
import { needsToken, useToken, wordsOf } from './api.ts'
import { useBadges } from './badges.ts'
import { pageTime } from './browser.ts'
import { ClockBar } from './clock-bar.tsx'
import { search } from './dialogs.tsx'
import { TextField } from './fields.tsx'
import { numberText } from './format.ts'
import { Icon } from './icon.tsx'
import { connection, isLost, missingSandbox, retryNow, ticking } from './live.ts'
import { Menu } from './menu.tsx'
import { goTo, here, linkTo, sandboxName } from './place.ts'
import { MissingSandbox, SandboxSwitcher } from './sandbox-switcher.tsx'
import { nextTheme, theme } from './theme.ts'
import { dismiss, toasts } from './toasts.ts'
import { Button, Problem, Skeleton, showModal } from './ui.tsx'
import { type View, viewNamed, views } from './views.ts'

export function Shell() {
  const { view: name } = here.value
  const view = viewNamed(name)
  const missing = missingSandbox.value
  const canShow = missing === undefined || TO_BEGIN_WITH.includes(name)
  return (
    <>
      <a class="skip hidden" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <div class="shell">
        <Navigation />
        <div class="page">
          <ClockBar />
          {missing === undefined ? <Banner /> : canShow && <MissingSandbox name={missing} isWhole={false} />}
          <main id="main" class="view" tabIndex={-1}>
            {view === undefined ? (
              <Problem text={`There is no view "${name}". Choose one in the navigation.`} />
            ) : canShow ? (
              <Lazy key={name} view={view} />
            ) : (
              <MissingSandbox name={missing} isWhole />
            )}
          </main>
          <Toasts />
        </div>
        <BottomBar />
      </div>
      {needsToken.value && <TokenDialog />}
    </>
  )
}

/** The views that are shown for a sandbox that does not exist. The others would have no data. */
const TO_BEGIN_WITH: readonly string[] = ['connect', 'requests', 'sandboxes']

// Following the link would replace the address of the view, so only the focus moves.
function skip(event: MouseEvent): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

/** The components of the views that were opened, by name. */
const loaded = signal<Readonly<Record<string, ComponentType>>>({})

function Lazy({ view }: { view: View }) {
  const [failure, setFailure] = useState<string | undefined>(undefined)
  const load = () => {
    setFailure(undefined)
    view.load().then(
      ({ default: component }) => {
        loaded.value = { ...loaded.value, [view.name]: component }
      },
      (error) => setFailure(wordsOf(error)),
    )
  }
  useEffect(load, [view])
  const Component = loaded.value[view.name]
  useEffect(() => {
    document.title = `${view.title} · ${sandboxName.value}`
    if (Component !== undefined && isElsewhere()) document.querySelector<HTMLElement>('h1')?.focus()
  }, [Component, sandboxName.value])
  if (failure !== undefined) return <Problem text={failure} onRetry={load} />
  return Component === undefined ? <Skeleton /> : <Component key={sandboxName.value} />
}

// After a change of view the focus goes to its title, unless the user is already in the view.
function isElsewhere(): boolean {
  const focused = document.activeElement
  return focused !== null && focused !== document.body && !document.getElementById('main')?.contains(focused)
}

function Navigation() {
  const badges = useBadges()
  return (
    <nav class="navigation" aria-label="Views">
      <p class="brand row wide-only">
        <span class="logo center">
          <Icon name="clock" size={14} />
        </span>
        <span class="desk-only">Workspace Emulator</span>
      </p>
      <SandboxSwitcher />
      <button type="button" class="nav-search nav-item row" title="Search or run" onClick={() => search()}>
        <Icon name="search" />
        <span class="desk-only">Search or run</span>
        <kbd class="desk-only push" aria-hidden="true">
          Ctrl K
        </kbd>
      </button>
      {[...groupBy(views, (view) => view.group)].map(([group, members]) => (
        <div class="nav-group wide-only" key={group}>
          <h2 class="desk-only">{group}</h2>
          <ul>
            {members.map((view) => (
              <NavItem key={view.name} view={view} {...badges[view.name]} />
            ))}
          </ul>
        </div>
      ))}
      <p class="connection row">
        <span class={`state row small dim ${isLost.value ? 'error' : 'ok'}`} role="status">
          <Icon name={isLost.value ? 'unplug' : 'ok'} size={12} />
          <span class="name">{isLost.value ? 'Disconnected' : location.host}</span>
        </span>
        <Button
          kind="ghost"
          icon={theme.value === 'dark' ? 'sun' : 'moon'}
          label={`Colours: ${theme.value}. Change`}
          onClick={nextTheme}
        />
      </p>
    </nav>
  )
}

function NavItem({ view, count = 0, problems = 0 }: { view: View; count?: number; problems?: number }) {
  const { name, title, icon } = view
  const isHere = here.value.view === name
  return (
    <li>
      <a class="nav-item row" href={linkTo(name)} aria-current={isHere ? 'page' : undefined} title={title}>
        <Icon name={icon} />
        <span class="desk-only">{title}</span>
        {problems > 0 ? (
          <span class="badge row push small bad-text">
            <Icon name="warn" size={14} />
            {problems}
            <span class="hidden"> problems</span>
          </span>
        ) : (
          count > 0 && <span class="badge row push hint">{numberText(count)}</span>
        )}
      </a>
    </li>
  )
}

function BottomBar() {
  const main = ['timeline', 'requests', 'faults', 'batches'].flatMap((name) => viewNamed(name) ?? [])
  const others = views.filter((view) => !main.includes(view))
  return (
    <nav class="bottom-bar" aria-label="Main views">
      {main.map(({ name, title, icon }) => (
        <a key={name} href={linkTo(name)} aria-current={here.value.view === name ? 'page' : undefined}>
          <Icon name={icon} />
          {title}
        </a>
      ))}
      <Menu
        label="More views"
        button={
          <>
            <Icon name="more" />
            More
          </>
        }
        items={others.map(({ name, title: label, icon }) => ({ label, icon, run: () => goTo(linkTo(name)) }))}
      />
    </nav>
  )
}

function Banner() {
  const { nextTry, since } = connection.value
  if (!isLost.value || ticking.value === 0) return null
  const seconds = (ms: number) => Math.max(0, Math.round(ms / 1_000))
  return (
    <div class="banner row warn" role="alert">
      <Icon name="unplug" />
      <p>
        Connection lost. Showing data from {seconds(pageTime() - since)} s ago. Next try in{' '}
        {seconds(nextTry - pageTime())} s.
      </p>
      <Button text="Retry now" onClick={() => retryNow()} />
    </div>
  )
}

function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, tone, text, action }) => (
        <div
          class={`toast ${tone}`}
          key={id}
          onClick={() => getSelection()?.isCollapsed !== false && dismiss(id)}
        >
          <Icon name={tone} />
          <p>{text}</p>
          {action !== undefined && (
            <Button
              text={action.label}
              kind="ghost"
              onClick={() => {
                dismiss(id)
                action.run()
              }}
            />
          )}
          <Button kind="ghost" icon="close" label="Close the message" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}

function TokenDialog() {
  const [text, setText] = useState('')
  return (
    <dialog {...{ ref: showModal, class: 'dialog', 'aria-label': 'Control token', closedby: 'none' }}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          useToken(text)
        }}
      >
        <h2>Control token</h2>
        <p>
          This emulator requires its control token. The emulator printed the token at its start, or was
          started with it.
        </p>
        <TextField label="Token" type="password" required value={text} onInput={setText} />
        <div class="actions row">
          <Button text="Continue" kind="primary" type="submit" />
        </div>
      </form>
    </dialog>
  )
}
