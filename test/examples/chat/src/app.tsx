import { type ComponentType, useSyncExternalStore } from 'react'
import { Batches } from './batches.tsx'
import { Chat } from './chat.tsx'
import { Files } from './files.tsx'
import { Pages } from './pages.tsx'
import { Search } from './search.tsx'

const SCREENS: Readonly<Record<string, { readonly icon: string; readonly Screen: ComponentType }>> = {
  Chat: { icon: 'M4 5h16v11H9l-5 4z', Screen: Chat },
  Search: { icon: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm5 12 5 5', Screen: Search },
  Pages: { icon: 'M6 3h9l4 4v14H6zM14 3v5h5', Screen: Pages },
  Files: { icon: 'M3 6h7l2 2h9v11H3z', Screen: Files },
  Batches: { icon: 'M4 5h16v4H4zm0 5h16v4H4zm0 5h16v4H4z', Screen: Batches },
}

const subscribe = (changed: () => void) => {
  addEventListener('hashchange', changed)
  return () => removeEventListener('hashchange', changed)
}

/** The part of the address after `#`: the screen, and what it shows. */
export function usePlace(): readonly string[] {
  return useSyncExternalStore(subscribe, () => location.hash)
    .slice(1)
    .split('/')
}

export function App() {
  const [name = ''] = usePlace()
  const current = name in SCREENS ? name : 'Chat'
  const { Screen = Chat } = SCREENS[current] ?? {}
  return (
    <div className="app">
      <nav>
        <strong>Workspace</strong>
        {Object.entries(SCREENS).map(([screen, { icon }]) => (
          <a key={screen} href={`#${screen}`} aria-current={screen === current ? 'page' : undefined}>
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <path d={icon} />
            </svg>
            {screen}
          </a>
        ))}
      </nav>
      <main>
        <Screen />
      </main>
    </div>
  )
}
