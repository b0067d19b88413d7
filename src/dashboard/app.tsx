import { type ComponentType, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { dialog, searched } from './dialogs.tsx'
import { startKeyboard } from './keyboard.tsx'
import { startLive } from './live.ts'
import { here, linkTo } from './place.ts'
import { startRequests } from './requests.ts'
import { Shell } from './shell.tsx'
import { viewNamed } from './views.ts'

function App() {
  return (
    <>
      <Shell />
      {dialog.value}
      {searched.value !== undefined && <LazyCommand />}
    </>
  )
}

/** Search and run, loaded when it is first opened. */
function LazyCommand() {
  const [load, setLoad] = useState<{ readonly CommandDialog: ComponentType } | undefined>(undefined)
  useEffect(() => void import('./command.tsx').then(setLoad), [])
  return load === undefined ? null : <load.CommandDialog />
}

/** Starts the dashboard. Without a view in the address, it opens `connect`, or `overview` if there are requests already. */
async function start(): Promise<void> {
  startKeyboard()
  // Loads the code of the view and its data at the same time.
  void viewNamed(here.value.view)?.load()
  startLive()
  const hasRequests = startRequests()
  if (here.value.view === '') location.replace(linkTo((await hasRequests) ? 'overview' : 'connect'))
  render(<App />, document.getElementById('app') as HTMLElement)
}

void start()
