import { bundleOf, recordingBundle } from '../../../core/record/bundle.ts'
import { route } from '../route.ts'

/** The recording of a sandbox. */
export const recordingRoutes = [
  route('GET /record', {
    name: 'recording.show',
    summary:
      'Show what the sandbox has seen since its state was last replaced, so that workspace-emulator replay can repeat it',
    returns:
      'The state at the start, every input in order, and a digest of every output. Keys and secrets are placeholders. `dropped` is the number of inputs before it.',
    output: recordingBundle,
    handle: async ({ host, sandbox, controlUrl }) => {
      const { emulator, ...facts } = host.recorded
      const origin = sandbox.origin ?? new URL(controlUrl).origin
      return { body: await bundleOf(sandbox, { ...facts, emulator: { ...emulator, origin } }) }
    },
  }),
] as const
