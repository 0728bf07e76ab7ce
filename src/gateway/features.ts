/**
 * Features that hold for the gateway and the command line where the configuration says nothing. A client of the gateway
 * reads names, not configurations: servers of one name in two environments must both be there, and apart. The library
 * keeps the reference's default (reference: catalog, 3).
 */
export const GATEWAY_FEATURES: Readonly<Record<string, boolean>> = Object.freeze({ multi_environment_mcp: true })
