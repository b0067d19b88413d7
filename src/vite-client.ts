// Loaded by `/// <reference types="agent-workspace-emulator/vite/client" />`, next to `vite/client`.

declare global {
  /** The variables that the plugin sets in the dev server. A build has the values of `.env` files. */
  interface ImportMetaEnv {
    /** The API of the emulator: `/v1` in a browser, an absolute URL in code for the server. */
    readonly VITE_WORKSPACE_BASE_URL: string
    /** A key of the default sandbox. */
    readonly VITE_WORKSPACE_API_KEY: string
  }
}

export {}
