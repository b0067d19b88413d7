import { render } from 'preact'
import { isHelpOpen, KeyboardHelp, startKeyboard } from './keyboard.tsx'
import { startLive } from './live.ts'
import { here, linkTo } from './place.ts'
import { startRequests } from './requests.ts'
import { Shell } from './shell.tsx'
import './theme.ts'

function App() {
  return (
    <>
      <Shell />
      {isHelpOpen.value && <KeyboardHelp />}
    </>
  )
}

/** Where a first visit leads: to what a newcomer needs, or to what has happened. */
async function start(): Promise<void> {
  startKeyboard()
  startLive()
  const hasRequests = startRequests()
  if (here.value.view === '') {
    location.replace(linkTo((await hasRequests) ? 'timeline' : 'connect'))
  }
  render(<App />, document.getElementById('app') as HTMLElement)
}

void start()
