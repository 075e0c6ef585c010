// The version of this build, as processes report it and as clients compare it.

export const BUILD_VERSION = '0.1.0';
