/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions with the names that compilers of C++ and Rust give: mangled [ROUNDS]. */
#include <stdlib.h>

static volatile long rounds;

/* foo::bar(int, char const*) */
void cplusplus(int n) __asm__("_ZN3foo3barEiPKc");
void cplusplus(int n)
{
	rounds += n; /* CPP */
}

/* <alloc::string::String as core::fmt::Write>::write_str, with a hash */
void rust(int n) __asm__("_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Write"
			 "$GT$9write_str17h0123456789abcdefE");
void rust(int n)
{
	rounds += n; /* RUST */
}

/* mycrate::foo, as later compilers name it */
void later_rust(int n) __asm__("_RNvCs1234_7mycrate3foo");
void later_rust(int n)
{
	rounds += n; /* LATER */
}

/* Each parameter is made of two of the one before: the source's name has gigabytes. */
void huge(int n) __asm__(
	"_Z1f1AIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_"
	"IS5_S5_ES_IS6_S6_ES_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_"
	"ISB_SB_ES_ISC_SC_ES_ISD_SD_ES_ISE_SE_ES_ISF_SF_ES_ISG_SG_ES_"
	"ISH_SH_ES_ISI_SI_ES_ISJ_SJ_ES_ISK_SK_ES_ISL_SL_ES_ISM_SM_ES_"
	"ISN_SN_ES_ISO_SO_ES_ISP_SP_ES_ISQ_SQ_ES_ISR_SR_ES_ISS_SS_E");
void huge(int n)
{
	rounds += n; /* HUGE */
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 3;

	for (int i = 0; i < count; i++) {
		cplusplus(i);
		rust(i);
		later_rust(i);
		huge(i);
	}
	return 0;
}
