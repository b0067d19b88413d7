/** An emulator that runs already, as `workspace-emulator exec` tells the commands that it runs. */
export interface GivenEmulator {
  readonly url: string
  readonly controlToken: string | undefined
  readonly apiKey: string | undefined
}

/** The emulator that the environment names; undefined when tests are to start one of their own. */
export function givenEmulator(): GivenEmulator | undefined {
  const {
    WORKSPACE_EMULATOR_URL: url = '',
    WORKSPACE_EMULATOR_CONTROL_TOKEN: controlToken,
    WORKSPACE_API_KEY: apiKey,
  } = process.env
  // A key is the emulator's own only beside its address: alone it may well be one of the real service.
  return url === '' ? undefined : { url, controlToken, apiKey }
}
