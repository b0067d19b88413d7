import { ask } from './api.ts'
import { download } from './browser.ts'
import { pretty } from './format.ts'
import { act } from './live.ts'
import { sandboxName } from './place.ts'
import { copy, toast } from './toasts.ts'

/** Saves the recording of the present sandbox as a file, and says what to do with it. */
export async function saveRecording(): Promise<void> {
  const file = `${sandboxName.value}-recording.json`
  const command = `npx agent-workspace-emulator replay ${file}`
  if (!(await act(async () => download(file, pretty(await ask('GET /record')))))) return
  toast('ok', `${file} is saved. To repeat it: ${command}`, {
    label: 'Copy command',
    run: () => copy(command),
  })
}
