/* The one function of bcryptprimitives.dll that programs of Rust call, for versions of Wine without
 * that library. Nothing but `platforms.sh` uses it. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
    return RtlGenRandom(data, (ULONG)length);
}
